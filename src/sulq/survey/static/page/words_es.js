// Español.

export const ES = {
  name: "Español",
  skip: "Ir a las preguntas",
  skip_text: "Ir al texto",
  how: "Cómo le protege esto",
  back: "Volver a la encuesta",
  language: "Idioma",
  loading: "Cargando …",
  yes: "Sí",
  no: "No",
  choose: "Elija, por favor",
  from_to: "Un número de {low} a {high}",
  missing: "Responda a esta pregunta, por favor.",
  out_of_range: "Indique un número de {low} a {high}, por favor.",
  look: "Faltan algunas respuestas. La primera está marcada.",
  local:
    "Sus respuestas se quedan en este dispositivo. Las echa a cara o cruz y solo envía el resultado. Usted lo ve antes de que salga.",
  draw: "Echar a cara o cruz",
  will_send: "Lo que su dispositivo enviará",
  not_answers:
    "No son sus respuestas: es lo que el azar ha hecho de ellas. Volver a sortear diría más sobre usted, así que el resultado se queda.",
  says: "Su dispositivo dice: {report}",
  truth_odds: "{times} esta es su respuesta verdadera, y nadie puede saber si lo es.",
  in_ten: "Unas {n} veces de cada 10",
  in_hundred: "Unas {n} veces de cada 100",
  times_odds:
    "Cualquier respuesta podría haber llevado a esto. Es como mucho {times} veces más probable con una respuesta que con otra.",
  about_questions: "Sobre: {questions}",
  code: "el número {code}",
  rather: "más bien {one} que {other}",
  place: "lugar {place} de {places} en una escala de {low} a {high} y más allá",
  codes: "los números {code}",
  exactly: "Se envía exactamente esto, y nada más",
  send: "Enviar",
  withhold: "No enviar",
  sending: "Enviando …",
  sent: "Gracias. Su informe se ha enviado.",
  sent_more:
    "Sus respuestas se han quedado aquí. Puede cerrar esta página. Su dispositivo no volverá a informar sobre lo mismo.",
  queued:
    "De momento no hay conexión con la encuesta. Su informe se guarda aquí y se enviará una sola vez, en cuanto la haya.",
  withheld: "No se ha enviado nada. Todavía puede cambiar de opinión.",
  used: "Este enlace ya se ha usado: cada enlace cuenta una vez. No se ha contado nada más.",
  unknown:
    "Esta encuesta es para personas invitadas, y este enlace no es uno de los suyos. Use el enlace que recibió, por favor.",
  no_link: "Esta encuesta es para personas invitadas. Ábrala con el enlace que recibió, por favor.",
  closed: "Esta encuesta está cerrada. No se ha enviado nada.",
  round_closed: "Esta parte de la encuesta se cerró antes de que llegara su informe. No se ha contado.",
  waiting: "De momento no se pregunta nada. Esta página vuelve a mirar por sí misma.",
  budget:
    "Su dispositivo ya ha dicho todo lo que puede decir en esta encuesta. Se niega a decir más, pregunte quien pregunte, para que sus respuestas sigan siendo suyas.",
  unverified:
    "Esta encuesta pide más de lo que promete, o algo que esta página no puede comprobar. Su dispositivo se niega, y no se ha enviado nada.",
  refused: "El informe no se ha aceptado: {why}",
  unreachable: "De momento no se puede acceder a la encuesta. Inténtelo más tarde, por favor.",
  no_storage:
    "Este navegador no guarda nada, quizá por una ventana privada. Sin memoria se podría preguntar a su dispositivo una y otra vez, así que no responde.",
  further: "La encuesta pregunta algo más. Su dispositivo puede calcularlo con las respuestas que dio antes.",
  answer_further: "Echarlo a cara o cruz",
  forget: "Borrar mis respuestas de este dispositivo",
  forgotten:
    "Sus respuestas se han borrado de este dispositivo. Recuerda lo que ya ha dicho, para no decir nunca más de lo que puede.",
  left: "En esta encuesta su dispositivo aún puede decir ε = {left} de ε = {all}.",
  elsewhere: "Otras encuestas de esta dirección ya saben ε = {spent}; lo que dice en todas se suma.",
  keeps_reports: "Los informes se guardan.",
  keeps_tallies: "Solo se guardan sumas de informes.",
  p_intro:
    "Antes de que salga algo, su dispositivo echa su respuesta a cara o cruz. Casi siempre envía la verdadera, a veces la contraria. Nadie ve la moneda: ni quien pregunta, ni quien escucha, ni quien reciba los datos más tarde.",
  p_try: "Pruébelo",
  p_truth: "Su respuesta verdadera es: sí. Vea lo que enviaría su dispositivo.",
  p_epsilon: "Cuánto se dice (ε)",
  p_odds:
    "Con ε = {epsilon}, su respuesta verdadera se envía {n} veces de cada 100. Quien ve un «sí» sabe como mucho que «sí» lleva a ello {times} veces más fácilmente que «no».",
  p_draw: "Sortear 100 veces",
  p_dots: "100 sorteos: {real} veces la respuesta verdadera (relleno), {other} veces la otra (anillo)",
  p_once:
    "En una encuesta su dispositivo sortea solo una vez y se queda con eso. Si no, se podría preguntar hasta que el azar se compensara.",
  p_crowd: "¿De qué sirve entonces?",
  p_crowd_text:
    "Muchas monedas se compensan. De 2.000 personas aquí, 30 de cada 100 dirían que sí. Solo con sus informes al azar se estima de nuevo la proporción. Nadie sabe de quién era cada respuesta.",
  p_crowd_draw: "Preguntar a 2.000 personas",
  p_crowd_result:
    "Verdad: 30 de cada 100. Estimado con los informes: {estimate} de cada 100, con un margen de {radius}.",
  p_device: "Lo que hace su dispositivo",
  p_device_1:
    "Comprueba la promesa por sí mismo: con los números que recibe calcula cuánto podría revelar un informe, y se niega si es más de lo prometido.",
  p_device_2:
    "Lleva la cuenta: se niega a decir más que el ε de la encuesta, pregunte quien pregunte y cuantas veces sea.",
  p_device_3: "Recuerda: la misma pregunta recibe siempre el mismo informe.",
  p_device_4:
    "Envía el informe y, si le invitaron, su enlace. Ni respuestas, ni cookies, ni el nombre de su dispositivo.",
  p_not: "Lo que esto no hace",
  p_not_text:
    "Quien gestiona la red puede ver que su dispositivo habló con la encuesta. Si su enlace se le dio con su nombre, quien lo envió puede saber que participó, pero no lo que respondió. Sus respuestas están en este dispositivo hasta que las borre. Esta página viene de quienes preguntan: quien no confíe en ellos puede comparar su programa, que es público, con el publicado, o usar un dispositivo propio.",
};
