// Deutsch.

export const DE = {
  name: "Deutsch",
  skip: "Zu den Fragen",
  skip_text: "Zum Text",
  how: "Wie Sie das schützt",
  back: "Zurück zur Umfrage",
  language: "Sprache",
  loading: "Wird geladen …",
  yes: "Ja",
  no: "Nein",
  choose: "Bitte wählen",
  from_to: "Eine Zahl von {low} bis {high}",
  missing: "Bitte beantworten Sie diese Frage.",
  out_of_range: "Bitte geben Sie eine Zahl von {low} bis {high} an.",
  look: "Einige Antworten fehlen. Die erste ist markiert.",
  local:
    "Ihre Antworten bleiben auf diesem Gerät. Es wirft darüber Münzen und sendet nur, was dabei herauskommt. Sie sehen es, bevor es das Gerät verlässt.",
  draw: "Münzen werfen",
  will_send: "Was Ihr Gerät senden wird",
  not_answers:
    "Nicht Ihre Antworten: das haben die Münzen daraus gemacht. Noch einmal zu werfen würde etwas über Sie verraten, darum bleibt es dabei.",
  says: "Ihr Gerät sagt: {report}",
  truth_odds: "{times} ist das Ihre wirkliche Antwort, und niemand kann wissen, ob sie es ist.",
  in_ten: "Etwa {n} von 10 Malen",
  in_hundred: "Etwa {n} von 100 Malen",
  times_odds:
    "Jede Antwort hätte dazu führen können. Mit einer Antwort ist es höchstens {times}-mal so wahrscheinlich wie mit einer anderen.",
  about_questions: "Zu: {questions}",
  code: "die Zahl {code}",
  rather: "eher {one} als {other}",
  place: "Platz {place} von {places} auf einer Skala von {low} bis {high} und darüber hinaus",
  codes: "die Zahlen {code}",
  exactly: "Genau das wird gesendet, und sonst nichts",
  send: "Senden",
  withhold: "Nicht senden",
  sending: "Wird gesendet …",
  sent: "Danke. Ihr Bericht wurde gesendet.",
  sent_more:
    "Ihre Antworten sind hier geblieben. Sie können diese Seite schließen. Ihr Gerät berichtet nicht noch einmal über dasselbe.",
  queued:
    "Im Moment gibt es keine Verbindung zur Umfrage. Ihr Bericht liegt hier bereit und wird einmal gesendet, sobald es eine gibt.",
  withheld: "Es wurde nichts gesendet. Sie können es sich noch anders überlegen.",
  used: "Dieser Link wurde schon benutzt: jeder Link zählt einmal. Es wurde nichts weiter gezählt.",
  unknown:
    "Diese Umfrage ist für Eingeladene, und dieser Link gehört nicht dazu. Bitte benutzen Sie den Link, den Sie bekommen haben.",
  no_link: "Diese Umfrage ist für Eingeladene. Bitte öffnen Sie sie mit dem Link, den Sie bekommen haben.",
  closed: "Diese Umfrage ist beendet. Es wurde nichts gesendet.",
  round_closed: "Dieser Teil der Umfrage war beendet, bevor Ihr Bericht ankam. Er wurde nicht gezählt.",
  waiting: "Im Moment wird nichts gefragt. Diese Seite sieht von selbst wieder nach.",
  budget:
    "Ihr Gerät hat in dieser Umfrage alles gesagt, was es sagen darf. Mehr sagt es nicht, wer auch fragt, damit Ihre Antworten Ihre bleiben.",
  unverified:
    "Diese Umfrage fragt nach mehr, als sie verspricht, oder nach etwas, das diese Seite nicht prüfen kann. Ihr Gerät lehnt ab, und es wurde nichts gesendet.",
  refused: "Der Bericht wurde nicht angenommen: {why}",
  unreachable: "Die Umfrage ist im Moment nicht erreichbar. Bitte versuchen Sie es später noch einmal.",
  no_storage:
    "Dieser Browser merkt sich nichts, vielleicht wegen eines privaten Fensters. Ohne Gedächtnis könnte Ihr Gerät immer wieder gefragt werden, darum antwortet es nicht.",
  further: "Die Umfrage fragt noch etwas. Ihr Gerät kann es aus Ihren früheren Antworten berechnen.",
  answer_further: "Dafür Münzen werfen",
  forget: "Meine Antworten auf diesem Gerät löschen",
  forgotten:
    "Ihre Antworten wurden auf diesem Gerät gelöscht. Was es schon gesagt hat, merkt es sich, damit es nie mehr sagt, als es darf.",
  left: "Ihr Gerät darf in dieser Umfrage noch ε = {left} von ε = {all} sagen.",
  elsewhere: "Andere Umfragen von dieser Adresse haben ε = {spent} erfahren; was Sie in allen sagen, summiert sich.",
  keeps_reports: "Die Berichte werden aufbewahrt.",
  keeps_tallies: "Nur Summen von Berichten werden aufbewahrt.",
  p_intro:
    "Bevor etwas Ihr Gerät verlässt, wirft es eine Münze über Ihre Antwort. Meist sendet es die wirkliche, manchmal das Gegenteil. Niemand sieht die Münze: nicht wer fragt, nicht wer mithört, und niemand, der die Daten später bekommt.",
  p_try: "Probieren Sie es aus",
  p_truth: "Ihre wirkliche Antwort ist: ja. Sehen Sie, was Ihr Gerät senden würde.",
  p_epsilon: "Wie viel gesagt wird (ε)",
  p_odds:
    "Mit ε = {epsilon} wird Ihre wirkliche Antwort {n} von 100 Malen gesendet. Wer ein „Ja“ sieht, erfährt höchstens, dass „Ja“ {times}-mal so leicht dazu führt wie „Nein“.",
  p_draw: "100-mal ziehen",
  p_dots: "100 Ziehungen: {real}-mal die wirkliche Antwort (gefüllt), {other}-mal die andere (Ring)",
  p_once:
    "In einer Umfrage zieht Ihr Gerät nur einmal und bleibt dabei. Sonst könnte man fragen, bis sich die Münzen ausgleichen.",
  p_crowd: "Wozu ist das dann gut?",
  p_crowd_text:
    "Viele Münzen gleichen sich aus. Von 2.000 Menschen hier würden 30 von 100 Ja sagen. Allein aus ihren zufällig veränderten Berichten wird der Anteil wieder geschätzt. Von wem welche Antwort war, erfährt niemand.",
  p_crowd_draw: "2.000 Menschen fragen",
  p_crowd_result:
    "Wahrheit: 30 von 100. Geschätzt aus den Berichten: {estimate} von 100, auf {radius} genau.",
  p_device: "Was Ihr Gerät tut",
  p_device_1:
    "Es prüft das Versprechen selbst: aus den Zahlen, die es bekommt, berechnet es, wie viel ein Bericht verraten könnte, und lehnt ab, wenn das mehr ist als versprochen.",
  p_device_2: "Es führt Buch: es sagt nicht mehr als das ε der Umfrage, wer auch fragt und wie oft auch.",
  p_device_3: "Es merkt sich alles: dieselbe Frage bekommt für immer denselben Bericht.",
  p_device_4:
    "Es sendet den Bericht und, wenn Sie eingeladen wurden, Ihren Link. Keine Antworten, kein Cookie, keinen Namen Ihres Geräts.",
  p_not: "Was das nicht leistet",
  p_not_text:
    "Wer das Netz betreibt, kann sehen, dass Ihr Gerät mit der Umfrage gesprochen hat. Wenn Ihr Link auf Ihren Namen ausgegeben wurde, kann der Absender wissen, dass Sie teilgenommen haben, aber nicht, was Sie geantwortet haben. Ihre Antworten liegen auf diesem Gerät, bis Sie sie löschen. Diese Seite kommt von denen, die fragen: wer ihnen nicht traut, kann ihr Programm, das offen liegt, mit dem veröffentlichten vergleichen oder ein eigenes Gerät benutzen.",
};
