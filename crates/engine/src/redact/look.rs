//! How a value looks: which sorts of characters it has, and how strange their order is.

/// Pairs of letters that are common in English words and identifiers: after the letter before the colon. The 242 pairs
/// that are each more than 0.06 % of all pairs in English documentation and Python sources, 96 % of them together; of the
/// pairs of random letters they are 36 %.
const COMMON_PAIRS: &str = "a:bcdgiklmnprstuvy b:aeijloruy c:aehiklortu d:adeiorsu e:acdefgilmnopqrstvwxy f:aefilortu \
    g:ehilnrsu h:aeiot i:abcdefglmnoprstvxz j:e k:es l:adefilostuy m:abeimopsu n:acdefgiklnostuvy o:bcdfgiklmnoprstuvw \
    p:aeiloprtuy q:u r:acdegikmnorstuy s:acehilopstuy t:acdehiloprstuwy u:bcefilmnprst v:aei w:aehior x:cpt y:opst z:e";

/// How much of a value is looked at: enough to tell what it is.
pub(super) const LOOKED_AT: usize = 256;

const PAIRS: [[bool; 26]; 26] = pairs();

const fn pairs() -> [[bool; 26]; 26] {
    let text = COMMON_PAIRS.as_bytes();
    let mut table = [[false; 26]; 26];
    let mut first = 0;
    let mut at = 0;
    while at < text.len() {
        if text[at].is_ascii_lowercase() {
            if at + 1 < text.len() && text[at + 1] == b':' {
                first = (text[at] - b'a') as usize;
            } else {
                table[first][(text[at] - b'a') as usize] = true;
            }
        }
        at += 1;
    }
    table
}

/// Which sorts of characters a value has, and how strange their order is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Look {
    /// How many bytes.
    pub length: usize,
    /// How many digits.
    pub digits: usize,
    /// How many lower-case letters.
    pub lower: usize,
    /// How many upper-case letters.
    pub upper: usize,
    /// How many other visible ASCII characters.
    pub symbols: usize,
    /// How many characters beyond ASCII, in bytes.
    pub beyond: usize,
    /// How many spaces.
    pub spaces: usize,
    /// Of the neighbouring letters and digits, the share that words and names do not put next to each other.
    pub strange: f32,
    /// How many different bytes.
    pub distinct: usize,
    /// How often the most frequent one occurs.
    pub most: usize,
}

impl Look {
    /// Looks at a value.
    pub fn at(value: &[u8]) -> Self {
        let mut look = Look {
            length: value.len(),
            ..Look::default()
        };
        let mut counts = [0u16; 256];
        let mut before = b' ';
        let (mut pairs, mut strange) = (0u32, 0f32);
        for byte in value.iter().take(LOOKED_AT).copied() {
            let count = &mut counts[byte as usize];
            look.distinct += usize::from(*count == 0);
            *count += 1;
            look.most = look.most.max(usize::from(*count));
            match byte {
                b'0'..=b'9' => look.digits += 1,
                b'a'..=b'z' => look.lower += 1,
                b'A'..=b'Z' => look.upper += 1,
                b' ' => look.spaces += 1,
                0x80.. => look.beyond += 1,
                _ => look.symbols += 1,
            }
            let share = STRANGENESS[SORT[before as usize] as usize][SORT[byte as usize] as usize];
            if share >= 0.0 {
                pairs += 1;
                strange += share;
            }
            before = byte;
        }
        look.strange = if pairs == 0 { 0.0 } else { strange / pairs as f32 };
        look
    }

    /// Letters and digits, as a key made by a machine has.
    pub fn is_mixed(&self) -> bool {
        self.digits > 0 && self.lower + self.upper > 0
    }

    /// Whether it looks made by a machine: `strange` enough for its length. Words, names and paths do not.
    pub fn is_random(&self, least: usize) -> bool {
        let letters = self.lower + self.upper;
        self.length >= least
            && self.spaces == 0
            && self.distinct >= 7
            && (self.digits > 0
                || letters >= 16
                || (letters >= 12 && self.upper > 1 && self.lower > 1 && self.strange >= 0.4))
            && self.strange >= if self.digits >= 2 { 0.22 } else { 0.3 }
    }
}

/// Shannon entropy in bits a byte.
pub(super) fn entropy(value: &[u8]) -> f32 {
    let mut counts = [0u16; 256];
    for byte in value.iter().take(LOOKED_AT) {
        counts[*byte as usize] += 1;
    }
    let seen = value.len().min(LOOKED_AT) as f32;
    let shares = counts
        .into_iter()
        .filter(|count| *count > 0)
        .map(|count| f32::from(count) / seen);
    shares.map(|share| -share * share.log2()).sum()
}

/// The sorts of bytes whose order tells: small letters 0 to 25, capitals 26 to 51, digits 52, anything else 53.
const SORT: [u8; 256] = sorts();

const fn sorts() -> [u8; 256] {
    let mut table = [53; 256];
    let mut byte = 0;
    while byte < 128u8 {
        table[byte as usize] = match byte {
            b'a'..=b'z' => byte - b'a',
            b'A'..=b'Z' => byte - b'A' + 26,
            b'0'..=b'9' => 52,
            _ => 53,
        };
        byte += 1;
    }
    table
}

/// How strange it is that one sort follows another; below zero where the pair says nothing.
static STRANGENESS: [[f32; 54]; 54] = strangeness();

const fn strangeness() -> [[f32; 54]; 54] {
    let mut table = [[-1.0; 54]; 54];
    let mut before = 0;
    while before < 53 {
        let mut after = 0;
        while after < 53 {
            table[before][after] = match (before, after) {
                (52, 52) => 0.2,
                (_, 52) => 0.5,
                (52, _) => 0.9,
                // `aB` begins a new word in a name.
                (0..=25, 26..=51) => 0.4,
                _ if PAIRS[before % 26][after % 26] => 0.0,
                _ => 1.0,
            };
            after += 1;
        }
        before += 1;
    }
    table
}
