"""Short texts of our own making in six languages, on four topics: cooking, sport, money and travel.

A text is one of the twelve sentences of its topic and one that says nothing, in any order. No text leads from one
sentence of a topic to another: where few have a label, it takes the meaning of the others to find their topic.
"""

import numpy as np

TOPICS = ("cooking", "sport", "money", "travel")

SENTENCES = {
    "English": {
        "cooking": "Stir the onions until they are golden. The soup needs more salt. Bake the bread for forty minutes. "
        "Cut the carrots into thin slices. Melt the butter in a small pan. The sauce thickens with a little flour. "
        "Let the dough rest overnight. Grate some cheese over the noodles. Boil the potatoes in their skins. "
        "Season the fish with lemon and pepper. Whisk the eggs with sugar. Roast the chicken in a hot oven.",
        "sport": "The striker scored twice before the break. Our goalkeeper saved a penalty. She won the marathon in "
        "record time. The coach changed the whole team. The tennis final lasted five hours. He swims a hundred meters "
        "in under a minute. The referee showed a red card. They trained hard for the championship. The cyclist fell on "
        "the last climb. The match ended in a draw. Fans filled the stadium. The runner injured her knee.",
        "money": "The bank raised its interest rates. I paid the invoice by transfer. My savings account earns nothing. "
        "The shares fell by three percent. We took out a loan for the house. The tax office wants a receipt. Inflation "
        "eats up our wages. The insurance became more expensive. She invests in funds every month. The credit card was "
        "charged twice. The company reported a loss. He owes me fifty euros.",
        "travel": "Our flight was delayed by two hours. The hotel lies right at the beach. We crossed the mountains by "
        "train. My suitcase never arrived. The guide showed us the old castle. The ferry to the island leaves at noon. "
        "You need a visa for that country. We camped beside a lake. The airport was crowded. They rented a car in the "
        "south. The museum opens at ten. I lost my passport on the way.",
        "": "I wanted to tell you that. It is as simple as that. Nobody expected it. That was yesterday. I do not know "
        "more. We will see. Many thanks in advance. So it goes every year.",
    },
    "German": {
        "cooking": "Die Zwiebeln goldgelb anbraten. Der Suppe fehlt noch Salz. Das Brot vierzig Minuten backen. Die "
        "Möhren in dünne Scheiben schneiden. Butter in einem kleinen Topf schmelzen. Mit etwas Mehl wird die Soße "
        "dicker. Den Teig über Nacht ruhen lassen. Käse über die Nudeln reiben. Kartoffeln mit der Schale kochen. Den "
        "Fisch mit Zitrone und Pfeffer würzen. Eier mit Zucker schaumig schlagen. Das Hähnchen im heißen Ofen braten.",
        "sport": "Der Stürmer traf zweimal vor der Pause. Unser Torwart hielt einen Elfmeter. Sie gewann den Marathon in "
        "Rekordzeit. Der Trainer stellte die ganze Mannschaft um. Das Tennisfinale dauerte fünf Stunden. Er schwimmt "
        "hundert Meter in unter einer Minute. Der Schiedsrichter zeigte die rote Karte. Sie trainierten hart für die "
        "Meisterschaft. Der Radfahrer stürzte am letzten Anstieg. Das Spiel endete unentschieden. Die Anhänger füllten "
        "das Stadion. Die Läuferin verletzte sich am Knie.",
        "money": "Die Bank hat die Zinsen erhöht. Ich habe die Rechnung überwiesen. Mein Sparkonto bringt nichts ein. Die "
        "Aktien fielen um drei Prozent. Wir haben einen Kredit für das Haus aufgenommen. Das Finanzamt verlangt einen "
        "Beleg. Die Inflation frisst unsere Löhne. Die Versicherung wurde teurer. Sie legt jeden Monat Geld in Fonds an. "
        "Die Kreditkarte wurde doppelt belastet. Der Konzern meldete einen Verlust. Er schuldet mir fünfzig Euro.",
        "travel": "Unser Flug hatte zwei Stunden Verspätung. Das Hotel liegt direkt am Strand. Wir fuhren mit dem Zug "
        "über die Berge. Mein Koffer ist nie angekommen. Der Reiseleiter zeigte uns die alte Burg. Die Fähre zur Insel "
        "legt mittags ab. Für dieses Land braucht man ein Visum. Wir zelteten an einem See. Der Flughafen war überfüllt. "
        "Sie mieteten im Süden ein Auto. Das Museum öffnet um zehn. Unterwegs verlor ich meinen Pass.",
        "": "Das wollte ich dir sagen. So einfach ist das. Niemand hat damit gerechnet. Das war gestern. Mehr weiß ich "
        "nicht. Wir werden sehen. Vielen Dank im Voraus. So geht es jedes Jahr.",
    },
    "French": {
        "cooking": "Faites dorer les oignons. La soupe manque de sel. Cuisez le pain quarante minutes. Coupez les carottes "
        "en fines rondelles. Faites fondre le beurre dans une casserole. La sauce épaissit avec un peu de farine. "
        "Laissez reposer la pâte toute la nuit. Râpez du fromage sur les nouilles. Bouillez les pommes de terre. "
        "Assaisonnez le poisson avec du citron. Battez les œufs avec le sucre. Rôtissez le poulet au four chaud.",
        "sport": "L'attaquant a marqué deux buts. Notre gardien a arrêté un penalty. Elle a gagné le marathon en un temps "
        "record. L'entraîneur a changé toute l'équipe. La finale de tennis a duré cinq heures. Il nage cent mètres en "
        "moins d'une minute. L'arbitre a sorti un carton rouge. Ils se sont entraînés pour le championnat. Le cycliste "
        "est tombé dans la montée. Le match s'est terminé à égalité. Les supporters remplissaient le stade. La coureuse "
        "s'est blessée au genou.",
        "money": "La banque a relevé ses taux. J'ai payé la facture par virement. Mon livret ne rapporte rien. Les actions "
        "ont perdu trois pour cent. Nous avons pris un crédit pour la maison. Le fisc demande un reçu. L'inflation mange "
        "nos salaires. L'assurance a augmenté. Elle investit chaque mois dans des fonds. La carte bancaire a été débitée "
        "deux fois. L'entreprise annonce une perte. Il me doit cinquante euros.",
        "travel": "Notre vol avait deux heures de retard. L'hôtel donne sur la plage. Nous avons traversé les montagnes en "
        "train. Ma valise n'est jamais arrivée. Le guide nous a montré le vieux château. Le ferry pour l'île part à "
        "midi. Il faut un visa pour ce pays. Nous avons campé au bord d'un lac. L'aéroport était bondé. Ils ont loué une "
        "voiture dans le sud. Le musée ouvre à dix heures. J'ai perdu mon passeport en route.",
        "": "Je voulais te le dire. C'est aussi simple que cela. Personne ne s'y attendait. C'était hier. Je n'en sais pas "
        "plus. On verra bien. Merci d'avance. C'est ainsi chaque année.",
    },
    "Spanish": {
        "cooking": "Dora las cebollas a fuego lento. A la sopa le falta sal. Hornea el pan cuarenta minutos. Corta las "
        "zanahorias en rodajas finas. Derrite la mantequilla en una olla. La salsa espesa con un poco de harina. Deja "
        "reposar la masa toda la noche. Ralla queso sobre los fideos. Hierve las patatas con piel. Sazona el pescado con "
        "limón. Bate los huevos con azúcar. Asa el pollo en el horno caliente.",
        "sport": "El delantero marcó dos goles. Nuestro portero paró un penalti. Ella ganó el maratón con récord. El "
        "entrenador cambió todo el equipo. La final de tenis duró cinco horas. Nada cien metros en menos de un minuto. "
        "El árbitro sacó tarjeta roja. Entrenaron mucho para el campeonato. El ciclista se cayó en la última subida. El "
        "partido terminó en empate. Los hinchas llenaron el estadio. La corredora se lesionó la rodilla.",
        "money": "El banco subió los intereses. Pagué la factura por transferencia. Mi cuenta de ahorro no rinde nada. Las "
        "acciones bajaron un tres por ciento. Pedimos un préstamo para la casa. Hacienda exige un recibo. La inflación "
        "se come los sueldos. El seguro se encareció. Invierte en fondos cada mes. Cargaron dos veces la tarjeta. La "
        "empresa anunció pérdidas. Me debe cincuenta euros.",
        "travel": "Nuestro vuelo salió con dos horas de retraso. El hotel está junto a la playa. Cruzamos las montañas en "
        "tren. Mi maleta nunca llegó. El guía nos enseñó el castillo antiguo. El barco a la isla zarpa al mediodía. Hace "
        "falta visado para ese país. Acampamos al lado de un lago. El aeropuerto estaba lleno. Alquilaron un coche en el "
        "sur. El museo abre a las diez. Perdí el pasaporte en el camino.",
        "": "Quería contarte eso. Es así de sencillo. Nadie lo esperaba. Eso fue ayer. No sé nada más. Ya veremos. Muchas "
        "gracias de antemano. Así es todos los años.",
    },
    "Russian": {
        "cooking": "Обжарьте лук до золотистого цвета. В супе не хватает соли. Пеките хлеб сорок минут. Нарежьте морковь "
        "тонкими кружками. Растопите масло в кастрюле. Соус густеет от муки. Оставьте тесто на ночь. Натрите сыр на "
        "лапшу. Сварите картошку в мундире. Приправьте рыбу лимоном и перцем. Взбейте яйца с сахаром. Запеките курицу в "
        "горячей духовке.",
        "sport": "Нападающий забил дважды до перерыва. Наш вратарь отбил пенальти. Она выиграла марафон с рекордом. Тренер "
        "сменил всю команду. Теннисный финал длился пять часов. Он плывёт сто метров быстрее минуты. Судья показал "
        "красную карточку. Они готовились к чемпионату. Велосипедист упал на подъёме. Матч закончился вничью. Болельщики "
        "заполнили стадион. Бегунья повредила колено.",
        "money": "Банк повысил ставки. Я оплатил счёт переводом. Мой вклад ничего не приносит. Акции упали на три процента. "
        "Мы взяли кредит на дом. Налоговая требует чек. Инфляция съедает зарплату. Страховка подорожала. Она каждый месяц "
        "вкладывает деньги в фонды. С карты списали дважды. Компания сообщила об убытках. Он должен мне пятьдесят евро.",
        "travel": "Наш рейс задержали на два часа. Гостиница стоит у самого пляжа. Мы ехали через горы на поезде. Мой "
        "чемодан так и не прибыл. Гид показал нам старый замок. Паром на остров отходит в полдень. Для этой страны нужна "
        "виза. Мы жили в палатке у озера. Аэропорт был переполнен. Они взяли машину на юге. Музей открывается в десять. "
        "По дороге я потерял паспорт.",
        "": "Я хотел тебе это сказать. Всё так просто. Никто этого не ждал. Это было вчера. Больше я не знаю. Посмотрим. "
        "Заранее большое спасибо. Так бывает каждый год.",
    },
    "Greek": {
        "cooking": "Τσιγαρίστε τα κρεμμύδια. Η σούπα θέλει αλάτι. Ψήστε το ψωμί σαράντα λεπτά. Κόψτε τα καρότα σε φέτες. "
        "Λιώστε το βούτυρο στην κατσαρόλα. Η σάλτσα δένει με αλεύρι. Αφήστε τη ζύμη όλη νύχτα. Τρίψτε τυρί στα μακαρόνια. "
        "Βράστε τις πατάτες με τη φλούδα. Αλατίστε το ψάρι με λεμόνι. Χτυπήστε τα αβγά με ζάχαρη. Ψήστε το κοτόπουλο στον "
        "φούρνο.",
        "sport": "Ο επιθετικός σκόραρε δύο φορές. Ο τερματοφύλακας έπιασε πέναλτι. Κέρδισε τον μαραθώνιο με ρεκόρ. Ο "
        "προπονητής άλλαξε την ομάδα. Ο τελικός του τένις κράτησε πέντε ώρες. Κολυμπά εκατό μέτρα σε ένα λεπτό. Ο διαιτητής "
        "έδειξε κόκκινη κάρτα. Προπονήθηκαν για το πρωτάθλημα. Ο ποδηλάτης έπεσε στην ανηφόρα. Ο αγώνας έληξε ισόπαλος. Οι "
        "φίλαθλοι γέμισαν το γήπεδο. Η δρομέας χτύπησε στο γόνατο.",
        "money": "Η τράπεζα αύξησε τα επιτόκια. Πλήρωσα τον λογαριασμό με έμβασμα. Οι καταθέσεις δεν αποδίδουν. Οι μετοχές "
        "έπεσαν τρία τοις εκατό. Πήραμε δάνειο για το σπίτι. Η εφορία ζητά απόδειξη. Ο πληθωρισμός τρώει τους μισθούς. Η "
        "ασφάλεια ακρίβυνε. Επενδύει κάθε μήνα σε ταμεία. Η κάρτα χρεώθηκε δύο φορές. Η εταιρεία ανακοίνωσε ζημιές. Μου "
        "χρωστά πενήντα ευρώ.",
        "travel": "Η πτήση μας καθυστέρησε δύο ώρες. Το ξενοδοχείο είναι στην παραλία. Περάσαμε τα βουνά με τρένο. Η βαλίτσα "
        "μου δεν ήρθε ποτέ. Ο ξεναγός μάς έδειξε το κάστρο. Το πλοίο για το νησί φεύγει το μεσημέρι. Χρειάζεται βίζα για τη "
        "χώρα. Κατασκηνώσαμε δίπλα σε λίμνη. Το αεροδρόμιο ήταν γεμάτο. Νοίκιασαν αυτοκίνητο στον νότο. Το μουσείο ανοίγει "
        "στις δέκα. Έχασα το διαβατήριό μου στον δρόμο.",
        "": "Ήθελα να σου το πω. Τόσο απλό είναι. Κανείς δεν το περίμενε. Αυτό έγινε χθες. Δεν ξέρω κάτι άλλο. Θα δούμε. "
        "Ευχαριστώ εκ των προτέρων. Έτσι γίνεται κάθε χρόνο.",
    },
}


def made_up_texts(language: str, n_texts: int = 300, seed: int = 0) -> tuple[list[str], np.ndarray]:
    """Return different texts in a language, and the topic of each."""
    generator = np.random.default_rng(seed)
    sentences = {topic: text.split(". ") for topic, text in SENTENCES[language].items()}
    found: dict[str, str] = {}
    while len(found) < n_texts:
        topic = TOPICS[len(found) % len(TOPICS)]
        parts = [generator.choice(sentences[topic]), generator.choice(sentences[""])]
        text = ". ".join(part.rstrip(".") for part in generator.permutation(parts)) + "."
        found.setdefault(text, topic)
    return list(found), np.array(list(found.values()))
