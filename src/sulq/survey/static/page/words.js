// What the page itself says, in each language. A survey brings its own texts.

import { DE } from "./words_de.js";
import { ES } from "./words_es.js";
import { FR } from "./words_fr.js";

const EN = {
  name: "English",
  skip: "Skip to the questions",
  skip_text: "Skip to the text",
  how: "How this protects you",
  back: "Back to the survey",
  language: "Language",
  loading: "Loading …",
  yes: "Yes",
  no: "No",
  choose: "Please choose",
  from_to: "A number from {low} to {high}",
  missing: "Please answer this question.",
  out_of_range: "Please give a number from {low} to {high}.",
  look: "Some answers are missing. The first one is marked.",
  local:
    "Your answers stay on this device. It tosses coins over them and sends only what comes out; you see that before it leaves.",
  draw: "Toss the coins",
  will_send: "What your device will send",
  not_answers:
    "Not your answers: this is what the coins made of them. Tossing again would tell on you, so the result stays.",
  says: "Your device says: {report}",
  truth_odds: "{times} this is your real answer, and nobody can tell whether it is.",
  in_ten: "About {n} times in 10",
  in_hundred: "About {n} times in 100",
  times_odds:
    "Any answer could have led to this. It is at most {times} times likelier with one answer than with another.",
  about_questions: "About: {questions}",
  code: "the number {code}",
  rather: "rather {one} than {other}",
  place: "place {place} of {places} on a scale from {low} to {high} and beyond",
  codes: "the numbers {code}",
  exactly: "Exactly this is sent, and nothing else",
  send: "Send",
  withhold: "Do not send",
  sending: "Sending …",
  sent: "Thank you. Your report was sent.",
  sent_more:
    "Your answers have stayed here. You can close this page; your device will not report on the same again.",
  queued:
    "There is no connection to the survey at the moment. Your report is kept here and is sent once, as soon as there is one.",
  withheld: "Nothing was sent. You can still change your mind.",
  used: "This link has been used already: each link counts once. Nothing more was sent.",
  unknown:
    "This survey is for people who were invited, and this link is not one of theirs. Please use the link that you were given.",
  no_link: "This survey is for people who were invited. Please open it with the link that you were given.",
  closed: "This survey is closed. Nothing was sent.",
  round_closed: "This part of the survey was closed before your report arrived. It was not counted.",
  waiting: "Nothing is asked at the moment. This page looks again by itself.",
  budget:
    "Your device has said all that it may in this survey. It refuses to say more, whoever asks, so that your answers stay yours.",
  unverified:
    "This survey asks for more than it promises, or for something that this page cannot check. Your device refuses, and nothing was sent.",
  refused: "The collector did not take the report: {why}",
  unreachable: "The survey cannot be reached at the moment. Please try again later.",
  no_storage:
    "This browser keeps nothing, perhaps because of a private window. Without a memory your device could be asked again and again, so it does not answer.",
  further: "The survey asks something more. Your device can work it out from the answers you gave before.",
  answer_further: "Toss the coins for it",
  forget: "Delete my answers from this device",
  forgotten:
    "Your answers were deleted from this device. What it has already said is remembered, so that it never says more than it may.",
  left: "Your device may still say ε = {left} of ε = {all} in this survey.",
  elsewhere: "Other surveys from this address were told ε = {spent}; what you say in all of them adds up.",
  keeps_reports: "The collector keeps the reports.",
  keeps_tallies: "The collector keeps only sums of reports.",
  p_intro:
    "Before anything leaves your device, it tosses a coin over your answer. Mostly it sends the real one, sometimes the opposite. Nobody sees the coin: not those who ask, not those who listen, and nobody who gets the data later.",
  p_try: "Try it",
  p_truth: "Your real answer is: yes. See what your device would send.",
  p_epsilon: "How much is told (ε)",
  p_odds:
    "With ε = {epsilon} your real answer is sent {n} times in 100. Whoever sees a “yes” learns at most that “yes” was {times} times likelier to lead to it than “no”.",
  p_draw: "Draw 100 times",
  p_dots: "100 draws: {real} times the real answer (filled), {other} times the other (ring)",
  p_once:
    "In a survey your device draws only once, and then stays with it. Otherwise one could ask until the coins average out.",
  p_crowd: "How can it be of use?",
  p_crowd_text:
    "Many coins average out. Of 2,000 people here, 30 in 100 would say yes. From their randomized reports alone the share is estimated again. Whose answers they were, nobody learns.",
  p_crowd_draw: "Ask 2,000 people",
  p_crowd_result: "Truth: 30 in 100. Estimated from the reports: {estimate} in 100, give or take {radius}.",
  p_device: "What your device does",
  p_device_1:
    "It checks the promise itself: from the numbers that it is sent, it works out how much a report could tell, and refuses if that is more than promised.",
  p_device_2:
    "It keeps a ledger: it refuses to say more than the ε of the survey, whoever asks and however often.",
  p_device_3: "It remembers: the same question gets the same report for ever.",
  p_device_4:
    "It sends the report and, if you were invited, your link. No answers, no cookie, no name of your device.",
  p_not: "What this does not do",
  p_not_text:
    "Whoever runs the network can see that your device talked to the survey. If your link was given to you by name, the sender can know that you took part, but not what you answered. Your answers lie on this device until you delete them. This page comes from those who ask: whoever does not trust them can compare its program, which is public, with the published one, or use a device of their own.",
};

export const WORDS = { en: EN, de: DE, fr: FR, es: ES };
