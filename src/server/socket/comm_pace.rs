//! How fast one connection may talk to kernels over widgets: a dragged slider says something some twenty times a second.

use std::time::{Duration, Instant};

use notarium_wire::{ErrorCode, ErrorMessage};

use super::parse::problem;

/// Messages within the window.
const MAX_PER_WINDOW: u32 = 500;
const WINDOW: Duration = Duration::from_secs(5);

/// What a connection has sent since its window began.
#[derive(Debug, Default)]
pub struct CommPace {
    since: Option<Instant>,
    count: u32,
}

impl CommPace {
    /// Counts one more, or refuses it.
    pub fn check(&mut self) -> Result<(), ErrorMessage> {
        if self.since.is_none_or(|since| since.elapsed() >= WINDOW) {
            *self = Self { since: Some(Instant::now()), count: 0 };
        }
        if self.count >= MAX_PER_WINDOW {
            let words =
                format!("more than {MAX_PER_WINDOW} messages of widgets within {} s: send fewer", WINDOW.as_secs());
            return Err(problem(ErrorCode::TooManyRequests, words));
        }
        self.count += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_sends_so_many_at_once() {
        let mut pace = CommPace::default();
        assert!((0..MAX_PER_WINDOW).all(|_| pace.check().is_ok()));
        assert_eq!(pace.check().unwrap_err().code, ErrorCode::TooManyRequests);
    }
}
