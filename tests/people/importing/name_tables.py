"""Tables of names in many languages and their old encodings, to test the detection of encodings with."""

import random
from collections.abc import Iterator, Mapping

# By language: given names, surnames, places.
_NAMES = {
    "de": (
        "Jörg Änne Günther Björn Jürgen Käthe Sören Bärbel Hans Anna Peter Rüdiger",
        "Müller Groß Schäfer Weiß Schröder Böhm Krüger Schmidt Meier Jäger König Köhler",
        "Köln Zürich Düsseldorf München Nürnberg Lübeck Berlin Hamburg Gießen Würzburg Göttingen Bonn",
    ),
    "fr": (
        "Adèle François Élise Jérôme Zoé Benoît Hélène Noël Marie Jean Aurélie Cédric",
        "Lefèvre Beauchêne Durand Légère Dupré Martin Côté Forêt Gagné Garçon Bernard Lévêque",
        "Besançon Orléans Nîmes Saint-Étienne Béziers Paris Lyon Mâcon Évreux Angoulême Alençon Périgueux",
    ),
    "es": (
        "José María Ángel Íñigo Begoña Inés Sofía Andrés Raúl Martín Juan Ana",
        "Núñez García López Muñoz Peña Ibáñez Gómez Fernández Castro Martínez Rodríguez Sánchez",
        "Málaga Cádiz Ávila León Córdoba Jaén Cáceres Madrid Logroño Mérida Almería Bilbao",
    ),
    "nb": (
        "Åse Bjørn Øyvind Kåre Håkon Jørgen Sølvi Ole Kari Pål Målfrid Torbjørn",
        "Sæther Ødegård Hansen Bråten Nygård Bøe Næss Hauge Lie Moen Sørensen Østby",
        "Tromsø Bodø Ålesund Oslo Bergen Tønsberg Hønefoss Røros Lillestrøm Mosjøen Harstad Brønnøysund",
    ),
    "tr": (
        "Şükrü Ayşe Gökçe Çağla Işıl Oğuz İbrahim Özge Ali Fatma Uğur Şeyma",
        "Yıldız Çağlar Öztürk Kılıç Şahin Aydın Doğan Demir Koç Arslan Güneş Işık",
        "İzmir Iğdır Uşak Muğla Ankara Eskişehir Çanakkale Şanlıurfa İstanbul Adana Diyarbakır Kırşehir",
    ),
    "he": (
        "משה שרה דוד רחל יעקב לאה אברהם רבקה יצחק חנה נועם תמר",
        "כהן לוי מזרחי פרץ ביטון דהן אברהם פרידמן אזולאי שפירא גולן ברק",
        "ירושלים חיפה אשדוד נתניה רעננה עכו צפת טבריה אילת חולון רמלה לוד",
    ),
    "ar": (
        "أحمد فاطمة محمد علي خديجة يوسف مريم عمر حسن زينب إبراهيم سارة",
        "الشمري العلي حسين الخطيب النجار المصري حداد الحسن القحطاني العتيبي صالح ناصر",
        "القاهرة بغداد دمشق الرياض بيروت عمان الإسكندرية جدة الكويت تونس الجزائر طرابلس",
    ),
    "ru": (
        "Фёдор Анна Иван Наталья Сергей Ольга Дмитрий Екатерина Алексей Мария Юрий Светлана",
        "Достоевский Каренина Петров Иванова Смирнов Кузнецова Попов Васильева Соколов Михайлова Новиков Фёдорова",
        "Москва Тверь Казань Самара Омск Пермь Уфа Ростов Воронеж Волгоград Краснодар Саратов",
    ),
    "uk": (
        "Олександр Ірина Андрій Юлія Сергій Оксана Дмитро Наталія Василь Євгенія Микола Тетяна",
        "Шевченко Коваленко Бондаренко Ткаченко Кравченко Олійник Шевчук Коваль Поліщук Бондар Мельник Лисенко",
        "Київ Львів Одеса Харків Дніпро Запоріжжя Вінниця Чернігів Черкаси Житомир Суми Рівне",
    ),
    "pl": (
        "Łukasz Małgorzata Grażyna Paweł Michał Agnieszka Stanisław Elżbieta Bożena Józef Wiesław Żaneta",
        "Wiśniewski Źródło Żak Wójcik Kowalczyk Zieliński Dąbrowski Szymański Woźniak Kozłowski Jabłoński Majewski",
        "Łódź Częstochowa Gdańsk Kraków Poznań Wrocław Toruń Białystok Rzeszów Gliwice Słupsk Opole",
    ),
    "cs": (
        "Šárka Jiří Tomáš Květa Růžena Václav Zdeněk Lukáš Ondřej Jaroslav Vojtěch Bořivoj",
        "Novák Dvořák Svobodová Černý Procházka Kučera Veselý Horák Němec Pokorný Růžička Říha",
        "Plzeň Brno Děčín Žďár Hradec Liberec Zlín Jihlava Mělník Třebíč Kladno Přerov",
    ),
    "hu": (
        "László Gyöngyi István Erzsébet Ferenc Zsófia Győző Ágnes József Katalin Gergő Béla",
        "Kovács Szabó Tóth Nagy Horváth Varga Kiss Molnár Németh Farkas Balogh Papp",
        "Győr Pécs Szeged Budapest Székesfehérvár Hódmezővásárhely Gödöllő Fertőd Érd Tatabánya Miskolc Eger",
    ),
    "el": (
        "Γιώργος Μαρία Κώστας Ελένη Δημήτρης Αικατερίνη Νίκος Βασιλική Γιάννης Σοφία Παναγιώτης Άννα",
        "Παπαδόπουλος Νικολάου Δημητρίου Γεωργίου Παππάς Ιωάννου Κωνσταντίνου Βασιλείου Αντωνίου Οικονόμου Μακρής",
        "Αθήνα Πάτρα Βόλος Θεσσαλονίκη Ηράκλειο Λάρισα Ιωάννινα Χανιά Καβάλα Ρόδος Τρίκαλα Κέρκυρα",
    ),
    "ja": (
        "太郎 花子 一郎 美咲 健太 由美子 翔 さくら 直樹 恵子 大輔 陽子",
        "山田 佐藤 鈴木 高橋 田中 伊藤 渡辺 中村 小林 加藤 吉田 山本",
        "東京都 大阪市 札幌市 横浜市 名古屋市 京都市 神戸市 福岡市 川崎市 広島市 仙台市 千葉市",
    ),
    "ja-kana": (
        "タロウ ハナコ イチロウ ミサキ ケンタ ユミコ ショウ サクラ ナオキ ケイコ ダイスケ ヨウコ",
        "ヤマダ サトウ スズキ タカハシ タナカ イトウ ワタナベ ナカムラ コバヤシ カトウ ヨシダ ヤマモト",
        "東京都 大阪市 札幌市 横浜市 名古屋市 京都市 神戸市 福岡市 川崎市 広島市 仙台市 千葉市",
    ),
    "ko": (
        "민준 지은 서연 도윤 하은 예준 지우 수빈 현우 영희 철수 은정",
        "김 이 박 최 정 강 조 윤 장 임 한 오",
        "서울 부산 인천 대구 대전 광주 울산 수원 창원 성남 고양 용인",
    ),
    "zh": (
        "小明 丽丽 伟 芳 秀英 敏 静 强 磊 军 洋 勇",
        "王 张 李 刘 陈 杨 赵 黄 周 吴 徐 孙",
        "北京市 上海市 广州市 深圳市 天津市 武汉市 成都市 重庆市 南京市 西安市 杭州市 苏州市",
    ),
    "zh-hant": (
        "大明 美玲 志強 淑芬 建宏 雅婷 俊傑 怡君 家豪 淑惠 冠宇 佳穎",
        "王 陳 林 黃 張 李 吳 劉 蔡 楊 許 鄭",
        "臺北市 高雄市 臺中市 臺南市 新北市 桃園市 新竹市 基隆市 嘉義市 花蓮縣 宜蘭縣 屏東縣",
    ),
    "th": (
        "สมชาย สมหญิง วิชัย มาลี ประเสริฐ สุนีย์ อนุชา กัญญา ธนพล พิมพ์ใจ",
        "ใจดี รักไทย ทองสุข ศรีสุข บุญมี แสงทอง วงศ์ไทย สุขใจ พงษ์ไพบูลย์ แก้วมณี",
        "กรุงเทพ เชียงใหม่ ภูเก็ต ขอนแก่น นครราชสีมา อุดรธานี สงขลา พัทยา ลำปาง ชลบุรี",
    ),
    "lt": (
        "Jonas Žygimantas Eglė Rūta Šarūnas Jūratė Ąžuolas Živilė Vytautas Ieva",
        "Kazlauskas Žukauskas Petrauskienė Jankauskaitė Šimkus Čepaitis Grigonytė Ūsas Mažeika Navickienė",
        "Vilnius Šiauliai Panevėžys Klaipėda Kaunas Telšiai Kėdainiai Mažeikiai Utena Tauragė",
    ),
}
_ENCODINGS = {
    "de": "cp1252 iso-8859-15 cp850 cp437 mac_roman",
    "fr": "cp1252 iso-8859-15 cp850 mac_roman",
    "es": "cp1252 iso-8859-15 cp850 mac_roman",
    "nb": "cp1252 iso-8859-15 cp850 mac_roman",
    "tr": "cp1254 iso-8859-9 cp857",
    "he": "cp1255 iso-8859-8 cp862",
    "ar": "cp1256 iso-8859-6",
    "ru": "cp1251 koi8-r iso-8859-5 cp866 mac_cyrillic",
    "uk": "cp1251 koi8-u",
    "pl": "cp1250 iso-8859-2 cp852",
    "cs": "cp1250 iso-8859-2 cp852",
    "hu": "cp1250 iso-8859-2 cp852",
    "el": "cp1253 iso-8859-7 cp737",
    "ja": "cp932 euc_jp iso2022_jp",
    "ja-kana": "cp932 euc_jp iso2022_jp",
    "ko": "cp949 iso2022_kr",
    "zh": "gbk",
    "zh-hant": "big5 gb18030",
    "th": "cp874",
    "lt": "cp1257",
}


#: Encodings that are not guessed, in languages whose names would be read in another one.
NOT_GUESSED = {
    "pl": "mac_latin2 cp775 iso8859-16",
    "cs": "mac_latin2",
    "hu": "mac_latin2 iso8859-16",
    "ar": "cp720",
    "el": "mac_greek cp869",
    "tr": "mac_turkish iso8859-3",
    "es": "cp860 hp-roman8",
    "de": "hp-roman8",
    "fr": "hp-roman8",
    "nb": "hp-roman8",
    "ru": "cp855",
    "uk": "cp1125 cp855",
}


def name_tables(row_count: int, encodings: Mapping[str, str] = _ENCODINGS) -> Iterator[tuple[str, str, str, bytes]]:
    """Yield a table of each language in each of its encodings, as (language, encoding, text, bytes)."""
    choice = random.Random(1).choice  # the same tables in every run
    for language, words in _NAMES.items():
        columns = [line.split() for line in words]
        for encoding in encodings.get(language, "").split():
            rows: list[str] = []
            while len(rows) < row_count:
                row = ",".join(map(choice, columns))
                # Some encodings lack a letter of their language.
                if row.encode(encoding, "replace").decode(encoding) == row and not row.isascii():
                    rows.append(row)
            text = "\r\n".join(("First Name,Last Name,City", *rows, ""))
            yield language, encoding, text, text.encode(encoding)
