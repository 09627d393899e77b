//! Validates names, labels, logins and passwords.

use super::AuthError;

const MAX_NAME_CHARS: usize = 100;
const MAX_LOGIN_CHARS: usize = 100;
const MIN_PASSWORD_CHARS: usize = 10;
/// Argon2 would accept more, but requests of megabytes are refused.
const MAX_PASSWORD_BYTES: usize = 1_000;

fn has_controls(text: &str) -> bool {
    text.chars().any(char::is_control)
}

/// A name or label for people to read: trimmed, 1 to 100 characters.
pub(super) fn name(text: &str) -> Result<String, AuthError> {
    let text = text.trim();
    if text.is_empty() || text.chars().count() > MAX_NAME_CHARS || has_controls(text) {
        return Err(AuthError::invalid(format!("a name has 1 to {MAX_NAME_CHARS} characters on one line")));
    }
    Ok(text.to_owned())
}

/// A name as [`name`] checks it, or empty.
pub(super) fn label(text: &str) -> Result<String, AuthError> {
    if text.trim().is_empty() { Ok(String::new()) } else { name(text) }
}

/// A login: lower case, 1 to 100 characters without spaces.
pub(super) fn login(text: &str) -> Result<String, AuthError> {
    let text = text.trim().to_lowercase();
    let is_odd = |character: char| character.is_whitespace() || character.is_control();
    if text.is_empty() || text.chars().count() > MAX_LOGIN_CHARS || text.contains(is_odd) {
        return Err(AuthError::invalid(format!("a login has 1 to {MAX_LOGIN_CHARS} characters without spaces")));
    }
    Ok(text)
}

pub(super) fn check_password(password: &str) -> Result<(), AuthError> {
    if password.chars().count() < MIN_PASSWORD_CHARS || password.len() > MAX_PASSWORD_BYTES {
        let reason =
            format!("a password has at least {MIN_PASSWORD_CHARS} characters and at most {MAX_PASSWORD_BYTES} bytes");
        return Err(AuthError::invalid(reason));
    }
    Ok(())
}
