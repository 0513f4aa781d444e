// Français.

export const FR = {
  name: "Français",
  skip: "Aller aux questions",
  skip_text: "Aller au texte",
  how: "Comment cela vous protège",
  back: "Retour au sondage",
  language: "Langue",
  loading: "Chargement …",
  yes: "Oui",
  no: "Non",
  choose: "Veuillez choisir",
  from_to: "Un nombre de {low} à {high}",
  missing: "Veuillez répondre à cette question.",
  out_of_range: "Veuillez donner un nombre de {low} à {high}.",
  look: "Des réponses manquent. La première est marquée.",
  local:
    "Vos réponses restent sur cet appareil. Il les tire à pile ou face et n’envoie que le résultat. Vous le voyez avant qu’il parte.",
  draw: "Tirer à pile ou face",
  will_send: "Ce que votre appareil va envoyer",
  not_answers:
    "Pas vos réponses : voici ce que le hasard en a fait. Tirer de nouveau en dirait plus sur vous, donc ce résultat reste.",
  says: "Votre appareil dit : {report}",
  truth_odds: "{times}, c’est votre vraie réponse, et personne ne peut savoir si c’est le cas.",
  in_ten: "Environ {n} fois sur 10",
  in_hundred: "Environ {n} fois sur 100",
  times_odds:
    "Toute réponse aurait pu mener à cela. C’est au plus {times} fois plus probable avec une réponse qu’avec une autre.",
  about_questions: "Au sujet de : {questions}",
  code: "le nombre {code}",
  rather: "plutôt {one} que {other}",
  place: "place {place} sur {places} d’une échelle de {low} à {high} et au-delà",
  codes: "les nombres {code}",
  exactly: "Voici exactement ce qui est envoyé, et rien d’autre",
  send: "Envoyer",
  withhold: "Ne pas envoyer",
  sending: "Envoi …",
  sent: "Merci. Votre rapport a été envoyé.",
  sent_more:
    "Vos réponses sont restées ici. Vous pouvez fermer cette page. Votre appareil ne fera pas d’autre rapport sur la même chose.",
  queued:
    "Il n’y a pas de connexion au sondage pour le moment. Votre rapport est gardé ici et sera envoyé une seule fois, dès qu’il y en aura une.",
  withheld: "Rien n’a été envoyé. Vous pouvez encore changer d’avis.",
  used: "Ce lien a déjà servi : chaque lien compte une fois. Rien de plus n’a été compté.",
  unknown:
    "Ce sondage est réservé aux personnes invitées, et ce lien n’en fait pas partie. Veuillez utiliser le lien que vous avez reçu.",
  no_link:
    "Ce sondage est réservé aux personnes invitées. Veuillez l’ouvrir avec le lien que vous avez reçu.",
  closed: "Ce sondage est terminé. Rien n’a été envoyé.",
  round_closed:
    "Cette partie du sondage s’est terminée avant l’arrivée de votre rapport. Il n’a pas été compté.",
  waiting: "Rien n’est demandé pour le moment. Cette page regarde de nouveau d’elle-même.",
  budget:
    "Votre appareil a dit tout ce qu’il peut dire dans ce sondage. Il refuse d’en dire plus, peu importe qui demande, pour que vos réponses restent les vôtres.",
  unverified:
    "Ce sondage demande plus qu’il ne promet, ou quelque chose que cette page ne peut pas vérifier. Votre appareil refuse, et rien n’a été envoyé.",
  refused: "Le rapport n’a pas été accepté : {why}",
  unreachable: "Le sondage est injoignable pour le moment. Veuillez réessayer plus tard.",
  no_storage:
    "Ce navigateur ne garde rien, peut-être à cause d’une fenêtre privée. Sans mémoire, votre appareil pourrait être interrogé sans cesse ; il ne répond donc pas.",
  further:
    "Le sondage demande encore quelque chose. Votre appareil peut le calculer à partir de vos réponses précédentes.",
  answer_further: "Tirer à pile ou face pour cela",
  forget: "Supprimer mes réponses de cet appareil",
  forgotten:
    "Vos réponses ont été supprimées de cet appareil. Il se souvient de ce qu’il a déjà dit, pour ne jamais en dire plus qu’il ne peut.",
  left: "Dans ce sondage, votre appareil peut encore dire ε = {left} sur ε = {all}.",
  elsewhere: "D’autres sondages de cette adresse ont appris ε = {spent} ; ce que vous dites dans tous s’additionne.",
  keeps_reports: "Les rapports sont conservés.",
  keeps_tallies: "Seules des sommes de rapports sont conservées.",
  p_intro:
    "Avant que quoi que ce soit parte, votre appareil tire votre réponse à pile ou face. Le plus souvent il envoie la vraie, parfois le contraire. Personne ne voit la pièce : ni ceux qui demandent, ni ceux qui écoutent, ni ceux qui auront les données plus tard.",
  p_try: "Essayez",
  p_truth: "Votre vraie réponse est : oui. Voyez ce que votre appareil enverrait.",
  p_epsilon: "Combien est dit (ε)",
  p_odds:
    "Avec ε = {epsilon}, votre vraie réponse est envoyée {n} fois sur 100. Qui voit un « oui » apprend au plus que « oui » y mène {times} fois plus facilement que « non ».",
  p_draw: "Tirer 100 fois",
  p_dots: "100 tirages : {real} fois la vraie réponse (plein), {other} fois l’autre (anneau)",
  p_once:
    "Dans un sondage, votre appareil ne tire qu’une fois et s’y tient. Sinon, on pourrait demander jusqu’à ce que le hasard se compense.",
  p_crowd: "À quoi cela sert-il alors ?",
  p_crowd_text:
    "Beaucoup de pièces se compensent. Sur 2 000 personnes ici, 30 sur 100 diraient oui. À partir de leurs seuls rapports tirés au hasard, la part est estimée de nouveau. Personne n’apprend de qui étaient les réponses.",
  p_crowd_draw: "Interroger 2 000 personnes",
  p_crowd_result:
    "Vérité : 30 sur 100. Estimation à partir des rapports : {estimate} sur 100, à {radius} près.",
  p_device: "Ce que fait votre appareil",
  p_device_1:
    "Il vérifie lui-même la promesse : à partir des nombres reçus, il calcule combien un rapport pourrait révéler, et refuse si c’est plus que promis.",
  p_device_2:
    "Il tient un compte : il refuse de dire plus que le ε du sondage, peu importe qui demande et combien de fois.",
  p_device_3: "Il se souvient : la même question reçoit toujours le même rapport.",
  p_device_4:
    "Il envoie le rapport et, si vous êtes invité, votre lien. Pas de réponses, pas de cookie, pas de nom d’appareil.",
  p_not: "Ce que cela ne fait pas",
  p_not_text:
    "Qui exploite le réseau peut voir que votre appareil a parlé au sondage. Si votre lien vous a été donné à votre nom, l’expéditeur peut savoir que vous avez participé, mais pas ce que vous avez répondu. Vos réponses restent sur cet appareil jusqu’à ce que vous les supprimiez. Cette page vient de ceux qui demandent : qui ne leur fait pas confiance peut comparer son programme, qui est public, avec celui qui est publié, ou utiliser son propre appareil.",
};
