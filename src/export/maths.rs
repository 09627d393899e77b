//! Formulas as MathML, which browsers render without scripts.

use pulldown_latex::config::DisplayMode;
use pulldown_latex::{Parser, RenderConfig, Storage, push_mathml};

use crate::{clean, escaped};

/// Renders a formula; one that cannot be parsed is returned as its source.
pub fn mathml(latex: &str, is_display: bool) -> String {
    let storage = Storage::new();
    let display_mode = if is_display { DisplayMode::Block } else { DisplayMode::Inline };
    let events: Result<Vec<_>, _> = Parser::new(latex, &storage).collect();
    let mut out = String::new();
    let config = RenderConfig { display_mode, ..RenderConfig::default() };
    let is_drawn = match events {
        Ok(events) => push_mathml(&mut out, events.into_iter().map(Ok::<_, std::convert::Infallible>), config).is_ok(),
        Err(_) => false,
    };
    if is_drawn { clean::maths(&out) } else { format!("<code>{}</code>", escaped(latex)) }
}
