"""The card with which the measured programs were tried (dav-clients, section 4), as it was before their edits."""

from people.vcard import fold

RICH = """BEGIN:VCARD
VERSION:3.0
PRODID:-//Example//Server 1.0//EN
UID:u-rich-1
N:Lovelace;Ada;King;Dr.;PhD
FN:Dr. Ada Lovelace
NICKNAME:Countess
ORG:Analytical Society;Engines
TITLE:Analyst
BDAY;X-APPLE-OMIT-YEAR=1604:1604-12-10
ANNIVERSARY:20100708
X-ANNIVERSARY:2010-07-08
TEL;TYPE=CELL;TYPE=VOICE:+44 20 7946 0001
TEL;TYPE=HOME;TYPE=PREF:+44 20 7946 0002
item1.TEL:+44 20 7946 0003
item1.X-ABLabel:Lighthouse
EMAIL;TYPE=HOME:ada@example.org
EMAIL;TYPE=WORK;TYPE=PREF:ada@example.com
item2.EMAIL;TYPE=INTERNET:ada@cottage.example
item2.X-ABLabel:Cottage
ADR;TYPE=HOME;LABEL="1 Square\\nLondon":;;1 St James Square;London;;SW1Y 4JH;United Kingdom
item3.ADR:;;2 Lane;Ockham;Surrey;GU23;United Kingdom
item3.X-ABADR:gb
item3.X-ABLabel:Summer house
URL:https://example.org/ada
item4.URL:https://example.org/blog
item4.X-ABLabel:_$!<HomePage>!$_
IMPP;X-SERVICE-TYPE=Skype;TYPE=HOME:skype:ada
X-SOCIALPROFILE;TYPE=twitter;X-USER=ada:https://twitter.com/ada
X-JABBER:ada@jabber.example
RELATED;TYPE=friend:urn:uuid:charles
item5.X-ABRELATEDNAMES:Charles Babbage
item5.X-ABLabel:_$!<Friend>!$_
item6.X-ABDATE:2015-05-05
item6.X-ABLabel:First meeting
CATEGORIES:Friends,Science\\, old
NOTE:Line one\\nLine two; with \\; and \\, and ünï 😀
GEO:51.5;-0.13
TZ:+00:00
ROLE:Countess
KEY;ENCODING=b;TYPE=PGP:QUJD
X-FOO-UNKNOWN;X-P=1:keep me
X-NAMETAG-ID:abc
PHOTO;ENCODING=b;TYPE=PNG:iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==
REV:2026-01-02T03:04:05Z
END:VCARD
"""
RICH = "".join(fold(line) if line.startswith("PHOTO") else f"{line}\r\n" for line in RICH.splitlines())
