//! Colours and attributes of characters (SGR): read from escapes, and written as escapes.

use std::fmt::Write;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TextColour {
    #[default]
    Default,
    /// 0 to 7, then the bright ones.
    Basic(u8),
    Palette(u8),
    Exact(u8, u8, u8),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Style {
    pub fore: TextColour,
    pub back: TextColour,
    /// One bit for each attribute from 1 (bold) to 9 (struck out).
    pub attributes: u16,
}

impl Style {
    /// The look of an erased place: its background alone.
    pub fn erased(self) -> Self {
        Self { back: self.back, ..Self::default() }
    }

    pub fn has(self, attribute: u16) -> bool {
        self.attributes & (1 << attribute) != 0
    }

    /// Applies the parameters of an SGR escape.
    pub fn apply(&mut self, parameters: &str) {
        let mut parts = parameters.split(';');
        while let Some(part) = parts.next() {
            if let Some((code, detail)) = part.split_once(':') {
                self.apply_detailed(code, detail);
                continue;
            }
            let code: u16 = if part.is_empty() { 0 } else { part.parse().unwrap_or(u16::MAX) };
            match code {
                38 => self.fore = colour(&mut parts).unwrap_or(self.fore),
                48 => self.back = colour(&mut parts).unwrap_or(self.back),
                58 => _ = colour(&mut parts),
                _ => self.apply_code(code),
            }
        }
    }

    fn apply_code(&mut self, code: u16) {
        let basic = |from: u16| TextColour::Basic(u8::try_from(code - from).unwrap_or(0));
        match code {
            0 => *self = Self::default(),
            1..=9 => self.attributes |= 1 << code,
            22 => self.attributes &= !0b110,
            23..=29 => self.attributes &= !(1 << (code - 20)),
            30..=37 => self.fore = basic(30),
            39 => self.fore = TextColour::Default,
            40..=47 => self.back = basic(40),
            49 => self.back = TextColour::Default,
            90..=97 => self.fore = basic(82),
            100..=107 => self.back = basic(92),
            _ => {}
        }
        if code == 25 {
            self.attributes &= !(1 << 6);
        }
    }

    /// A parameter with parts: `4:3` (kinds of underlines), `38:5:1`, `38:2::1:2:3`.
    fn apply_detailed(&mut self, code: &str, detail: &str) {
        let numbers: Vec<u8> = detail.split(':').map(|one| one.parse().unwrap_or(0)).collect();
        let colour = match numbers[..] {
            [5, index, ..] => TextColour::Palette(index),
            [2, red, green, blue] | [2, _, red, green, blue, ..] => TextColour::Exact(red, green, blue),
            _ => TextColour::Default,
        };
        match (code, &numbers[..]) {
            ("4", [0, ..]) => self.apply_code(24),
            ("4", _) => self.apply_code(4),
            ("38", _) => self.fore = colour,
            ("48", _) => self.back = colour,
            _ => {}
        }
    }

    /// Writes what changes the style `from` into this one.
    pub fn write_change(self, from: Self, out: &mut String) {
        if self == from {
            return;
        }
        if from != Self::default() {
            out.push_str("\x1b[0m");
        }
        if self == Self::default() {
            return;
        }
        out.push_str("\x1b[");
        let start = out.len();
        for attribute in (1..=9).filter(|attribute| self.has(*attribute)) {
            _ = write!(out, "{attribute};");
        }
        self.fore.write(30, out);
        self.back.write(40, out);
        if out.len() > start {
            out.pop();
        }
        out.push('m');
    }
}

impl TextColour {
    fn write(self, base: u16, out: &mut String) {
        _ = match self {
            Self::Default => Ok(()),
            Self::Basic(index @ 0..8) => write!(out, "{};", base + u16::from(index)),
            Self::Basic(index) => write!(out, "{};", base + 52 + u16::from(index)),
            Self::Palette(index) => write!(out, "{};5;{index};", base + 8),
            Self::Exact(red, green, blue) => write!(out, "{};2;{red};{green};{blue};", base + 8),
        };
    }
}

/// Reads `5;INDEX` or `2;RED;GREEN;BLUE`.
fn colour<'a>(parts: &mut impl Iterator<Item = &'a str>) -> Option<TextColour> {
    let mut kind = || parts.next()?.parse::<u8>().ok();
    match kind()? {
        5 => Some(TextColour::Palette(kind()?)),
        2 => Some(TextColour::Exact(kind()?, kind()?, kind()?)),
        _ => None,
    }
}
