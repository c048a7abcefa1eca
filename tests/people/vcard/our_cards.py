"""Our own cards with everything that belongs to no field, in the variants that real cards have."""

PIXEL = "R0lGODlhAQABAIAAAP8AAAAAACH5BAAAAAAALAAAAAABAAEAAAICRAEAOw=="

OUR_CARDS: dict[str, bytes] = {
    name: "\r\n".join(["BEGIN:VCARD", *text.strip().splitlines(), "END:VCARD", ""]).encode()
    for name, text in {
        "preferred marks and types": """
VERSION:3.0
UID:ours-1
N:Lovelace;Ada;;;
FN:Ada Lovelace
TEL;TYPE=WORK,MSG,VOICE;TYPE=pref:1001
TEL;type=HOME;type=homefax:1002
item1.TEL;TYPE=CELL;X-EVOLUTION-UI-SLOT=2:1003
item1.X-ABLabel:Boat
EMAIL;TYPE=INTERNET,PREF:ada@example.org
EMAIL;TYPE=school;LANGUAGE=en:ada@school.example.org
ADR;TYPE=WORK,POSTAL,PARCEL:PO Box 7;Flat 2;12 Long Road\\nHouse B\\nYard C;London;;SW1;UK
URL;TYPE=pref:http\\://example.org/a,b;c
""",
        "components, groups and labels": """
VERSION:3.0
UID:ours-2
N:Babbage;;;;
FN:Babbage
X-ABShowAs:COMPANY
item1.ORG;TYPE=work:Engines;;Mills
item1.X-ABLabel:Employer
item2.ADR;type=HOME:;Suite 5;;Oslo;;0150;Norway
item2.X-ABADR:no
item2.X-ABLabel:Cabin
WORK.TEL:2001
WORK.EMAIL:charles@example.org
WORK.KEY;VALUE=uri:http://example.org/key
item3.X-ABRELATEDNAMES:Georgiana
item3.X-ABLabel:_$!<Spouse>!$_
NICKNAME:Charlie,Chas
TITLE:Inventor
TITLE:Professor
NOTE;LANGUAGE=en:First note
NOTE;LANGUAGE=de:Zweite Notiz
X-messaging/skype-All:charles
EMAIL;TYPE=HOME:not an address
TEL;TYPE=HOME:
CATEGORIES:Old friends,Chess\\, old
""",
        "names that differ": """
VERSION:3.0
UID:ours-3
N:Doe;John;Richter,James;Mr.;Sr.,MD
N:Doe;Johnny;;;
FN:Doe, John (the elder)
SORT-STRING:Doe
BDAY;VALUE=date-time:1985-01-28T07:30:00Z
BDAY:1985-01-29
X-ABDATE;type=pref:2008-12-11
item1.X-ABDATE:2009-12-11
item1.X-ABLabel:_$!<Anniversary>!$_
X-ANNIVERSARY:2001-02-03
PHOTO;X-ORIGIN=scan;ENCODING=b;TYPE=GIF:PIXEL
PHOTO;ENCODING=b;TYPE=JPEG:Zm9v
""",
        "all that 4.0 has": """
VERSION:4.0
UID:ours-4
KIND:individual
N;SORT-AS="Harten,Rene":van der Harten;Rene,J.;Sir;R.D.O.N.;
FN;PID=1.1;LANGUAGE=nl:Rene van der Harten
FN;ALTID=1;LANGUAGE=fr:René
GENDER:M;a man
LANG;PREF=2:nl
TEL;VALUE=uri;PREF=1;TYPE="voice,home":tel:+1-555-555-5555;ext=5555
TEL;PREF=50;PID=2.1;TYPE=work:+33 01 23 45 67
EMAIL;PREF=1;ALTID=7:rene@example.org
ADR;GEO="geo:12.3457,78.910";LABEL="Mr. John^n123 Main";CC=nl:;;123 Main;Any Town;CA;91921;USA
IMPP;PREF=1;X-SERVICE-TYPE=XMPP:xmpp:rene@example.org
GEO;TYPE=work:geo:46.772673,-71.282945
BDAY;CALSCALE=gregorian:--0203
ANNIVERSARY:20090808T1430-0500
CLIENTPIDMAP:1;urn:uuid:53e374d9-337e-4727-8803-a1e9c14e0556
RELATED;TYPE=friend:urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6
PHOTO:data:image/gif;base64,PIXEL
LOGO;MEDIATYPE=image/png:http://example.org/logo.png
""",
        "in the spelling of 2.1": """
VERSION:2.1
UID:ours-5
N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:M=C3=BCller;J=C3=B6rg;;;
FN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:J=C3=B6rg M=C3=BCller
TEL;WORK;VOICE;PREF:3001
TEL;HOME;MSG:3002
EMAIL;X-INTERN:joerg@example.org
ADR;DOM;HOME;ENCODING=QUOTED-PRINTABLE:;;Weg 1=0D=0AHof;Bonn;;53111;Deutschland
LABEL;DOM;HOME;ENCODING=QUOTED-PRINTABLE:Weg 1=0D=0ABonn
NOTE:C:\\new, old; both
X-MS-CARDPICTURE;TYPE=JPEG;ENCODING=BASE64:
 /9j/4AAQ

KEY;X509;ENCODING=BASE64:QUJD
""",
        "nothing but an address": """
VERSION:3.0
UID:ours-6
item1.ADR;type=WORK;type=pref:;;Lierstr. 20a;München;;80639;Deutschland
""",
    }.items()
}
OUR_CARDS = {name: data.replace(b"PIXEL", PIXEL.encode()) for name, data in OUR_CARDS.items()}
