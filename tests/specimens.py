"""Texts of every awkward kind, by name, as bytes; and code points that every supported Python and our table know alike."""

from unicodedata import category

PROSE = {
    "empty": "",
    "one letter": "a",
    "short": "two words",
    "blanks": " \t\r\n\x0b\x0c\x1c\x1f ",
    "punctuation": "?!... --- (;:) «»",
    "English": "The Quick brown fox, it's said, jumped over 13 lazy-dogs.",
    "long words": "antidisestablishmentarianism x" * 4 + " abcdefgh abcdefghi abcdefghabcdefgh",
    "upper and lower": "STRASSE Straße straße ẞ ǅ ΣΊΣΥΦΟΣ Σίσυφος",
    "Turkish": "İstanbul ISPARTA ığdır İİ I\u0307",
    "Greek": "ᾳ ᾼ ΑΙ α\u0345\u0301 ὈΔΥΣΣΕΎΣ ὀδυσσεύς \u0345",
    "ligatures": "ﬁne oﬃce ﬀ ǆ ĳ ﬆ",
    "full width": "ＦＵＬＬ　ｗｉｄｔｈ　１２３ ｶﾞｷﾞｸﾞ ﾊﾟ ￥",
    "compatibility": "㎏ ½ ² ① ㈱ ℡ Ⅷ ﷺ ㌔ ™ ¨ ︎ﬖ",
    "Chinese": "国家自然科学基金，申请书。2023年度abc项目",
    "Japanese": "東京タワーへ行きました。カ゛ガか\u3099は゜ 〆切 〇 々",
    "Korean": "대한민국 한국어 \u1112\u1161\u11ab\u1100\u1173\u11af 각 가\u11a8 ㄱㅏ ﾡ",
    "Thai": "ภาษาไทยน้ำใจ ก็ เปิด ำ",
    "Lao": "ພາສາລາວ ນ້ຳ ໜ ຫຼ",
    "Khmer": "ភាសាខ្មែរ ស្ត្រី",
    "Myanmar": "မြန်မာဘာသာ က္က",
    "Arabic": "السَّلامُ عَلَيْكُم \u202bنص\u202c ﻻ ﷲ ـ",
    "Hebrew": "שָׁלוֹם עולם \u200fABC\u200e יִ",
    "Hindi": "हिन्दी क़ ज़ क\u094d\u200dष",
    "Tibetan": "བོད་ཡིག \u0f73\u0f71\u0f72 \u0f77",
    "Vietnamese": "Tiếng Việt Vie\u0323\u0302t Vie\u0302\u0323t",
    "emoji": "👩‍👩‍👧‍👦 thumbs 👍🏽 up 🇩🇪 ❤️ 1️⃣ x😀y",
    "mixed scripts": "abc中文abc 中1国2 Приветworld日本 กabc αβγ한글def",
    "marks": "e\u0301 e\u0327\u0301 e\u0301\u0327 \u0301a .\u0301b \u0301\u0302 a\u0305\u0332\u0305 中\u0301 \u20dd",
    "marks upon blanks": "a \u0301b a\u00a0\u0301b \u0020\u0345",
    "ignorable": "so\u00adft ze\u200bro jo\u200diner a\ufeffb \u180ex \ufe0f e\u00ad\u0301 e\u034f\u0301 \u115f\u1161",
    "starters that compose": "\u09c7\u09be \u0b47\u0b56 \u1025\u102e \u30ab\u3099 \U00011099\U000110ba \U00011131\U00011127",
    "excluded from composition": "\u0958 \u2adc \ufb1d \U0001d15e \u0344 \u212b \u1f71 豈",
    "astral": "𝐁𝐨𝐥𝐝 𝔘𝔫𝔦 𐐀𐐨 𠀀𠀁 \U000e0041 \U0010fffd",
    "private and unassigned": "a\ue000b\uffff c\U000fffff",
    "NUL": "a\x00b\x00\x00c",
    "controls": "a\x01b\x7fc\x80d\x85e\u2028f\xa0g\u3000h",
    "replacement": "a\ufffdb",
}  # fmt: skip

BROKEN = {
    "bare continuation": b"a\x80b\xbf\xbfc",
    "bare leads": b"a\xc3b \xe2c \xf0d",
    "lead at the end": b"abc\xc3",
    "two of three": b"ab\xe2\x82",
    "two of three, then more": b"ab\xe2\x82cd",
    "two of four": b"ab\xf0\x9f",
    "three of four": b"ab\xf0\x9f\x98",
    "three of four, then more": b"ab\xf0\x9f\x98 cd",
    "overlong": b"\xc0\xaf \xc1\xbf \xe0\x80\xaf \xe0\x9f\xbf \xf0\x80\x80\xaf \xf0\x8f\xbf\xbf",
    "surrogates": b"\xed\xa0\x80 \xed\xbf\xbf x\xed\xa0\xbd\xed\xb8\x80y",
    "beyond the last": b"\xf4\x90\x80\x80 \xf5\x80\x80\x80 \xf8\x88\x80\x80\x80 \xfc\x84\x80\x80\x80\x80",
    "never used": b"\xfe \xff\xff\xff",
    "Latin-1": "Müller fährt über die Straße, Größe".encode("latin-1"),
    "mark after a break": b"e\xff\xcc\x81",
    "UTF-16": "déjà vu".encode("utf-16"),
    "cut Chinese": "国家自然".encode()[:-1],
    "every byte": bytes(range(256)),
}

SPECIMENS = {name: text.encode() for name, text in PROSE.items()} | BROKEN

KNOWN = [chr(c) for c in range(0x110000) if category(chr(c)) not in ("Cn", "Cs")]
TOUCHY = [c for c in KNOWN if category(c)[0] == "M"] + [chr(c) for c in (*range(0x1100, 0x1200), *range(0xAC00, 0xAC40), 0xAD, 0x200D, 0xFE0F, 0x345, 0x130, 0x3099, 0x309A)]
