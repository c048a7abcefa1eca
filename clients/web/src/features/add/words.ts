// The words of a line, in the six languages: what happened, days, what somebody is of somebody, what is to be done. Beside these
// the names of months and weekdays are those of the browser, and kinds of relationship have the labels of the account.
// All are compared without accents and capitals. `_` stands where a number is.
import type { Language } from "../../i18n/index.ts";
import { fold } from "../../store/fold.ts";

export interface Words {
  kinds: Readonly<Record<"MEETING" | "CALL" | "MESSAGE" | "EMAIL" | "GIFT" | "NOTE", string>>;
  titles: string; // meetings that have a title of their own
  verbs: Readonly<Record<"call" | "message" | "mail" | "open" | "share" | "log" | "make", string>>;
  dates: Readonly<Record<"BIRTHDAY" | "ANNIVERSARY" | "NAMEDAY" | "MEMORIAL", string>>;
  days: Readonly<Record<number, string>>; // from today
  ago: readonly [day: string, week: string, month: string, year: string];
  numbers: string; // one, two ...
  last: string; // before a weekday: not today
  before: string; // what may stand before a day
  joints: string; // what stands between names and days, and says nothing more
  is: string; // of a relationship
  at: string; // before a place
  person: string; // says that the name that follows is of somebody new
  relations: Readonly<Record<string, string>>; // by the name of a predefined type
}

const en: Words = {
  kinds: {
    MEETING: "met with|met|meet|meeting|saw|visited|visit|hung out|ran into",
    CALL: "called|call|phoned|rang|phone call|video call|talked to|talked with|spoke to|spoke with|facetime|phone",
    MESSAGE: "messaged|message|texted|text|wrote to|wrote|chatted with|chatted|whatsapp|sms",
    EMAIL: "e-mailed|emailed|mailed|e-mail|email|mail",
    GIFT: "gift for|gift from|gift|gave|present for|present from|present",
    NOTE: "note on|note about|note",
  },
  titles: "tea|coffee|breakfast|brunch|lunch|dinner|supper|drinks|beer|wine|walk|hike|party|cinema|concert|picnic|barbecue",
  verbs: {
    call: "call|phone|ring",
    message: "message|text|sms|write to|write",
    mail: "mail|email|e-mail",
    open: "open|show|go to",
    share: "share|send card of",
    log: "log",
    make: "add|new",
  },
  dates: {
    BIRTHDAY: "birthday|bday|birthdate|date of birth|born on|born",
    ANNIVERSARY: "wedding anniversary|wedding day|anniversary|married on",
    NAMEDAY: "name day|nameday",
    MEMORIAL: "memorial day|died on|died",
  },
  days: { 0: "today|this morning|this afternoon|this evening|tonight|just now", "-1": "yesterday|last night|yesterday evening", "-2": "the day before yesterday|day before yesterday" },
  ago: ["_ days? ago", "_ weeks? ago", "_ months? ago", "_ years? ago"],
  numbers: "a|two|three|four|five|six|seven|eight|nine|ten",
  last: "last",
  before: "on|the|since|from|last|this",
  joints: "together with|with|and|to|for|of|from|by|on|at|in|into|the|a|an|was|had|i|we|'s|&|\\+",
  is: "is|was|are",
  at: "in|at",
  person: "a new person|new person|a person|person|new contact",
  relations: {
    PARENT: "parent|mother|father|mum|mom|dad",
    CHILD: "child|son|daughter",
    SIBLING: "sibling|siblings|brother|sister",
    SPOUSE: "spouse|husband|wife|married to|married",
    PARTNER: "partner|boyfriend|girlfriend|fiance|fiancee",
    FRIEND: "friend|friends",
    COLLEAGUE: "colleague|colleagues|coworker",
    ACQUAINTANCE: "acquaintance",
    RELATIVE: "relative|cousin|aunt|uncle|niece|nephew|grandmother|grandfather|grandma|grandpa|grandson|granddaughter",
  },
};

const de: Words = {
  kinds: {
    MEETING: "getroffen|traf|treffen|gesehen|sah|besucht|besuch bei|besuch",
    CALL: "angerufen|telefoniert|telefonat|anruf bei|anruf von|anruf|anrufen|rief an|gesprochen|videoanruf",
    MESSAGE: "geschrieben|schrieb|nachricht an|nachricht von|nachricht|gechattet|whatsapp|sms",
    EMAIL: "gemailt|e-mail an|e-mail von|e-mail|email|mail an|mail von|mail",
    GIFT: "geschenk fur|geschenk von|geschenk|geschenkt|schenkte",
    NOTE: "notiz zu|notiz uber|notiz",
  },
  titles: "tee|kaffee|fruhstuck|brunch|mittagessen|abendessen|essen|bier|wein|spaziergang|wanderung|feier|party|kino|konzert|picknick|grillen",
  verbs: {
    call: "anrufen|rufe|ruf|telefoniere mit|anruf",
    message: "nachricht an|nachricht|schreiben an|schreiben|schreibe|schreib|sms an|sms",
    mail: "e-mail an|mail an|e-mail|email|mail",
    open: "offnen|offne|zeigen|zeige|zeig|gehe zu",
    share: "teilen|teile|weitergeben",
    log: "festhalten|eintragen|protokolliere|log",
    make: "hinzufugen|neuer|neue|neu",
  },
  dates: {
    BIRTHDAY: "geburtstag|geburtsdatum|geboren am|geboren|geb\\.?",
    ANNIVERSARY: "hochzeitstag|jahrestag|verheiratet seit",
    NAMEDAY: "namenstag",
    MEMORIAL: "todestag|gedenktag|gestorben am|gestorben",
  },
  days: { 0: "heute|heute morgen|heute abend|eben|gerade", "-1": "gestern|gestern abend|gestern morgen", "-2": "vorgestern" },
  ago: ["vor _ tag(?:en)?", "vor _ wochen?", "vor _ monat(?:en)?", "vor _ jahr(?:en)?"],
  numbers: "ein[emr]*|zwei|drei|vier|funf|sechs|sieben|acht|neun|zehn",
  last: "letzten|letzte|letztem|vorigen",
  before: "am|den|seit|vom|letzten|letzte|letztem|diesen",
  joints: "zusammen mit|mit|und|zu|zum|zur|bei|fur|von|vom|am|an|im|in|der|die|das|den|dem|ein|eine|einen|habe|hatte|war|ich|wir|hat|es|&|\\+",
  is: "ist|war|sind",
  at: "in|im|bei",
  person: "neue person|eine person|person|neuer kontakt",
  relations: {
    PARENT: "elternteil|mutter|vater|mama|papa",
    CHILD: "kind|sohn|tochter",
    SIBLING: "geschwister|bruder|schwester",
    SPOUSE: "ehepartner|ehemann|ehefrau|mann|frau|verheiratet",
    PARTNER: "partner|partnerin|freundin von|lebensgefahrte|lebensgefahrtin|verlobter|verlobte",
    FRIEND: "freund|freundin|freunde|befreundet",
    COLLEAGUE: "kollege|kollegin|kollegen",
    ACQUAINTANCE: "bekannte|bekannter",
    RELATIVE: "verwandte|verwandter|cousin|cousine|tante|onkel|nichte|neffe|oma|opa|grossmutter|grossvater|enkel|enkelin",
  },
};

const es: Words = {
  kinds: {
    MEETING: "quede con|quede|me encontre con|vi a|visite a|visite|visita a|visita|reunion con|reunion|encuentro con|encuentro",
    CALL: "llame a|llame|llamada con|llamada de|llamada a|llamada|hable con|hable|llamar a|llamar|videollamada",
    MESSAGE: "escribi a|escribi|mensaje a|mensaje de|mensaje|chatee con|whatsapp|sms",
    EMAIL: "correo a|correo de|correo|e-mail|email|mail",
    GIFT: "regalo para|regalo de|regalo a|regalo|regale a|regale",
    NOTE: "nota sobre|nota de|nota",
  },
  titles: "te|cafe|desayuno|almuerzo|comida|cena|cerveza|vino|paseo|excursion|fiesta|cine|concierto|picnic|barbacoa",
  verbs: {
    call: "llamar a|llama a|llamar|llama",
    message: "mensaje a|mensaje|escribir a|escribe a|escribir|escribe",
    mail: "correo a|correo|email|e-mail|mail",
    open: "abrir|abre|mostrar|muestra|ir a",
    share: "compartir|comparte",
    log: "anotar|anota|registrar|registra",
    make: "anadir|anade|nuevo|nueva",
  },
  dates: {
    BIRTHDAY: "cumpleanos|cumple|fecha de nacimiento|nacido el|nacida el|nacio el|nacido|nacida|nacio",
    ANNIVERSARY: "aniversario de boda|aniversario|boda",
    NAMEDAY: "onomastica|santo",
    MEMORIAL: "fallecimiento|fallecio el|fallecio|murio el|murio",
  },
  days: { 0: "hoy|esta manana|esta tarde|esta noche|ahora", "-1": "ayer|anoche", "-2": "anteayer|antes de ayer" },
  ago: ["hace _ dias?", "hace _ semanas?", "hace _ mes(?:es)?", "hace _ anos?"],
  numbers: "una?|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez",
  last: "pasado",
  before: "el pasado|el|desde|este|pasado",
  joints: "junto con|con|y|e|a|al|de|del|para|por|en|el|la|los|las|un|una|tuve|tomamos|me|le|&|\\+",
  is: "es|era|son",
  at: "en",
  person: "persona nueva|nueva persona|una persona|persona|contacto nuevo|nuevo contacto",
  relations: {
    PARENT: "padre|madre|mama|papa",
    CHILD: "hijo|hija",
    SIBLING: "hermano|hermana|hermanos|hermanas",
    SPOUSE: "conyuge|marido|mujer|esposo|esposa",
    PARTNER: "pareja|novio|novia",
    FRIEND: "amigo|amiga|amigos|amigas",
    COLLEAGUE: "colega|companero|companera",
    ACQUAINTANCE: "conocido|conocida",
    RELATIVE: "pariente|primo|prima|tio|tia|sobrino|sobrina|abuelo|abuela|nieto|nieta",
  },
};

const fr: Words = {
  kinds: {
    MEETING: "rencontre avec|rencontre|j'ai vu|vu|visite chez|visite a|visite|reunion avec|reunion|rendez-vous avec|rendez-vous",
    CALL: "appele|telephone a|telephone|appel avec|appel de|appel a|appel|appeler|parle avec|parle a|visio",
    MESSAGE: "ecrit a|ecrit|message a|message de|message|texto|whatsapp|sms",
    EMAIL: "e-mail a|e-mail|email|mail a|mail|courriel a|courriel",
    GIFT: "cadeau pour|cadeau de|cadeau|offert a|offert",
    NOTE: "note sur|note",
  },
  titles: "the|cafe|petit-dejeuner|petit dejeuner|brunch|dejeuner|diner|biere|vin|promenade|randonnee|fete|cinema|concert|pique-nique|apero",
  verbs: {
    call: "appeler|appelle|telephoner a|telephone a",
    message: "message a|message|ecrire a|ecris a|texto a|sms a",
    mail: "e-mail a|mail a|courriel a|e-mail|email|mail|courriel",
    open: "ouvrir|ouvre|afficher|affiche|aller a",
    share: "partager|partage",
    log: "noter|note|consigner",
    make: "ajouter|ajoute|nouveau|nouvelle",
  },
  dates: {
    BIRTHDAY: "date de naissance|anniversaire|anniv|nee? le|nee?",
    ANNIVERSARY: "anniversaire de mariage|mariage",
    NAMEDAY: "fete du prenom|fete patronale",
    MEMORIAL: "jour du deces|deces|mort le|morte le",
  },
  days: { 0: "aujourd'hui|aujourd’hui|ce matin|cet apres-midi|ce soir", "-1": "hier|hier soir|hier matin", "-2": "avant-hier" },
  ago: ["il y a _ jours?", "il y a _ semaines?", "il y a _ mois", "il y a _ (?:ans?|annees?)"],
  numbers: "une?|deux|trois|quatre|cinq|six|sept|huit|neuf|dix",
  last: "dernier",
  before: "le|depuis|ce|du",
  joints: "avec|et|a|au|aux|de|du|des|d'|d’|pour|par|chez|en|dans|le|la|les|l'|l’|un|une|j'ai|j’ai|on|&|\\+",
  is: "est|etait|sont",
  at: "a|au|en|dans",
  person: "nouvelle personne|une personne|personne|nouveau contact",
  relations: {
    PARENT: "parent|mere|pere|maman|papa",
    CHILD: "enfant|fils|fille",
    SIBLING: "frere|soeur|freres|soeurs",
    SPOUSE: "conjoint|conjointe|mari|femme|epoux|epouse",
    PARTNER: "partenaire|compagnon|compagne|copain|copine|fiance|fiancee",
    FRIEND: "ami|amie|amis|amies",
    COLLEAGUE: "collegue|collegues",
    ACQUAINTANCE: "connaissance",
    RELATIVE: "cousin|cousine|tante|oncle|niece|neveu|grand-mere|grand-pere|mamie|papi|petit-fils|petite-fille",
  },
};

const nb: Words = {
  kinds: {
    MEETING: "mote med|mote|motte|traff|sa|besokte|besok hos|besok",
    CALL: "ringte til|ringte|ring|snakket med|samtale med|samtale|telefon med|videosamtale",
    MESSAGE: "skrev til|skrev|melding til|melding fra|melding|chattet med|whatsapp|sms",
    EMAIL: "e-post til|e-post fra|e-post|epost|mail til|mail",
    GIFT: "gave til|gave fra|gave|ga",
    NOTE: "notat om|notat",
  },
  titles: "te|kaffe|frokost|lunsj|middag|kveldsmat|ol|vin|tur|gatur|fest|kino|konsert|piknik|grilling",
  verbs: {
    call: "ring til|ring|ringe",
    message: "melding til|melding|skriv til|skriv|sms til",
    mail: "e-post til|mail til|e-post|epost|mail",
    open: "apne|vis|ga til",
    share: "del|dele",
    log: "logg|loggfor",
    make: "legg til|ny|nytt",
  },
  dates: {
    BIRTHDAY: "fodselsdag|bursdag|fodselsdato|fodt den|fodt",
    ANNIVERSARY: "bryllupsdag|arsdag",
    NAMEDAY: "navnedag",
    MEMORIAL: "minnedag|dodsdag|dode den|dode",
  },
  days: { 0: "i dag|idag|i morges|i kveld|na nettopp", "-1": "i gar|igar|i gar kveld", "-2": "i forgars|forgars" },
  ago: ["for _ dag(?:er)? siden", "for _ uker? siden", "for _ maned(?:er)? siden", "for _ ar siden"],
  numbers: "e[nit]+|to|tre|fire|fem|seks|sju|syv|atte|ni|ti",
  last: "sist",
  before: "sist|pa|den|siden|fra",
  joints: "sammen med|med|og|til|for|av|fra|hos|pa|i|den|det|en|ei|et|jeg|vi|hadde|&|\\+",
  is: "er|var",
  at: "i|pa",
  person: "ny person|en person|person|ny kontakt",
  relations: {
    PARENT: "forelder|mor|far|moren|faren|mamma|pappa",
    CHILD: "barn|barnet|sonn|datter|sonnen|datteren",
    SIBLING: "sosken|bror|soster|broren|sosteren",
    SPOUSE: "ektefelle|mann|kone|mannen|kona|gift",
    PARTNER: "partner|samboer|kjaereste|kjaeresten|forlovede",
    FRIEND: "venn|venninne|venner|vennen",
    COLLEAGUE: "kollega|kollegaen|kolleger",
    ACQUAINTANCE: "bekjent",
    RELATIVE: "slektning|fetter|kusine|tante|onkel|niese|nevo|bestemor|bestefar|barnebarn",
  },
};

const ja: Words = {
  kinds: {
    MEETING: "会いました|会った|会う|面会|訪問|打ち合わせ",
    CALL: "電話しました|電話した|電話|通話|話しました|話した",
    MESSAGE: "メッセージ|書いた|連絡した|ライン|LINE",
    EMAIL: "メールした|メール",
    GIFT: "贈り物|プレゼント|あげた|もらった",
    NOTE: "メモ",
  },
  titles: "お茶|コーヒー|朝食|昼食|ランチ|夕食|ディナー|食事|飲み会|散歩|パーティー|映画|コンサート",
  verbs: {
    call: "電話する|電話",
    message: "メッセージを送る|メッセージ",
    mail: "メールを送る|メール",
    open: "開く|表示",
    share: "共有する|共有",
    log: "記録する|記録",
    make: "追加する|追加|新しい|新規",
  },
  dates: {
    BIRTHDAY: "誕生日|生年月日|生まれ",
    ANNIVERSARY: "結婚記念日|記念日",
    NAMEDAY: "聖名祝日",
    MEMORIAL: "命日",
  },
  days: { 0: "今日|今朝|今夜|さっき", "-1": "昨日|きのう|昨夜", "-2": "一昨日|おととい" },
  ago: ["_日前", "_週間前", "_(?:か|ヶ|カ)月前", "_年前"],
  numbers: "一|二|三|四|五|六|七|八|九|十",
  last: "先週の|前の",
  before: "先週の|前の",
  joints: "さん|ちゃん|くん|君|様|一緒に|です|でした|と|に|の|は|が|を|へ|で|、|。|した",
  is: "は|が|です",
  at: "",
  person: "新しい人|新しい連絡先",
  relations: {
    PARENT: "お母さん|お父さん|母|父|親",
    CHILD: "子ども|子供|息子|娘",
    SIBLING: "きょうだい|兄弟|姉妹|兄|弟|姉|妹",
    SPOUSE: "配偶者|夫|妻",
    PARTNER: "パートナー|恋人|彼氏|彼女",
    FRIEND: "友人|友達",
    COLLEAGUE: "同僚",
    ACQUAINTANCE: "知人",
    RELATIVE: "親戚|いとこ|祖母|祖父|叔父|叔母|孫",
  },
};

export const WORDS: Readonly<Record<Language, Words>> = { en, "de-DE": de, "es-ES": es, "fr-FR": fr, "nb-NO": nb, "ja-JP": ja };

// The longest first, as a shorter one may be the beginning of a longer one.
export function alternatives(words: string): string {
  return fold(words).split("|").filter(Boolean).sort((one, other) => other.length - one.length).join("|") || "(?!)";
}
