//! Mail of notices: digests of plain text, and codes that prove an address. Without the feature `mail` a server refuses to start with a mail
//! server.

#[cfg(feature = "mail")]
mod smtp;

use std::fmt::Write;
use std::time::Duration;

use notarium_wire::rest::InboxNotice;
use secrecy::SecretString;

use super::words::short;

/// Notices that a digest lists; the rest is a number.
const MAX_LISTED: usize = 50;

/// Server that sends mail.
#[derive(Clone)]
pub struct MailServer {
    /// Address, as in `smtps://notes@mail.example.org` or `smtp://mail.example.org:587?tls=required`.
    pub url: String,
    pub password: Option<SecretString>,
    /// Sender, as in `Notarium <notes@example.org>`.
    pub from: String,
}

/// Reason why mail cannot be sent with these settings.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidMail(pub String);

/// Notices of one mail.
pub(super) struct Digest<'a> {
    /// The same for every attempt.
    pub id: &'a str,
    pub address: &'a str,
    /// With the titles of their notebooks.
    pub notices: &'a [(InboxNotice, Option<String>)],
}

/// A mail of plain text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PlainMail {
    /// Left part of its `Message-ID`.
    pub id: String,
    pub to: String,
    pub subject: String,
    pub text: String,
}

/// Sends mail. Cheap to clone.
#[derive(Clone)]
pub struct MailSender {
    #[cfg(feature = "mail")]
    smtp: smtp::SmtpSender,
    public_url: String,
}

impl MailSender {
    #[cfg(feature = "mail")]
    pub(super) fn new(server: &MailServer, public_url: &str, timeout: Duration) -> Result<Self, InvalidMail> {
        let public_url = public_url.trim_end_matches('/').to_owned();
        Ok(Self { smtp: smtp::SmtpSender::new(server, &public_url, timeout)?, public_url })
    }

    #[cfg(not(feature = "mail"))]
    pub(super) fn new(_: &MailServer, _: &str, _: Duration) -> Result<Self, InvalidMail> {
        Err(InvalidMail("this build sends no mail: build with the default features".to_owned()))
    }

    /// Checks an address; the error says what is wrong with it.
    #[cfg(feature = "mail")]
    pub(super) fn check(&self, address: &str) -> Result<(), InvalidMail> {
        smtp::check(address)
    }

    #[cfg(not(feature = "mail"))]
    pub(super) fn check(&self, _: &str) -> Result<(), InvalidMail> {
        Err(InvalidMail("this build sends no mail".to_owned()))
    }

    /// Sends a digest; the error is a sentence for its reader.
    pub(super) async fn send_digest(&self, digest: Digest<'_>) -> Result<(), String> {
        self.send(digest_mail(&self.public_url, &digest)).await
    }

    /// Sends the code that proves an address.
    pub(super) async fn send_code(&self, id: &str, address: &str, code: &str) -> Result<(), String> {
        let text = format!(
            "Somebody, probably you, wants notices of Notarium at this address.\n\nEnter this code there within 15 minutes: {code}\n\n\
             If it was not you, do nothing: without the code nothing more comes.\n\n{}\n",
            self.public_url
        );
        let subject = format!("{code} is your code for notices of Notarium");
        self.send(PlainMail { id: id.to_owned(), to: address.to_owned(), subject, text }).await
    }

    #[cfg(feature = "mail")]
    async fn send(&self, mail: PlainMail) -> Result<(), String> {
        self.smtp.send(mail).await
    }

    #[cfg(not(feature = "mail"))]
    async fn send(&self, _: PlainMail) -> Result<(), String> {
        Err("this build sends no mail".to_owned())
    }
}

fn digest_mail(public_url: &str, digest: &Digest<'_>) -> PlainMail {
    let subject = match digest.notices {
        [(only, _)] => format!("Notarium: {}", only.text),
        all => format!("Notarium: {} notices", all.len()),
    };
    let mut text = String::new();
    for (notice, _) in digest.notices.iter().take(MAX_LISTED) {
        // Writing to a string does not fail.
        let _ = writeln!(text, "- {}", notice.text);
        if let Some(link) = &notice.link {
            let _ = writeln!(text, "  {public_url}{link}");
        }
    }
    let rest = digest.notices.len().saturating_sub(MAX_LISTED);
    if rest > 0 {
        let _ = writeln!(text, "\n{rest} more are in your inbox.");
    }
    let _ = writeln!(text, "\nChoose what is mailed to you: {public_url}/ (Settings, Notices)");
    PlainMail { id: digest.id.to_owned(), to: digest.address.to_owned(), subject: short(&subject), text }
}

#[cfg(test)]
mod tests {
    use notarium_wire::rest::NoticeKind;

    use super::*;

    fn notice(text: &str, link: Option<&str>) -> (InboxNotice, Option<String>) {
        let about = NoticeKind::AgentGone { agent: "gpu".parse().unwrap(), name: "gpu".to_owned() };
        let notice = InboxNotice {
            id: "n".to_owned(),
            at: 1,
            about,
            text: text.to_owned(),
            notebook: None,
            link: link.map(str::to_owned),
            is_read: false,
            is_settled: false,
        };
        (notice, None)
    }

    #[test]
    fn a_digest_lists_notices_with_their_addresses() {
        let notices = [notice("One.", Some("/#/n/a")), notice("Two.", None)];
        let digest = Digest { id: "d", address: "ann@example.org", notices: &notices };
        let mail = digest_mail("https://notes.example.org", &digest);
        assert_eq!(mail.subject, "Notarium: 2 notices");
        assert!(mail.text.starts_with("- One.\n  https://notes.example.org/#/n/a\n- Two.\n\n"), "{}", mail.text);
        let alone = Digest { notices: &notices[..1], ..digest };
        assert_eq!(digest_mail("", &alone).subject, "Notarium: One.");
    }

    #[test]
    fn a_digest_is_bounded_and_its_subject_one_line() {
        let notices: Vec<_> = (0..60).map(|_| notice("x", None)).collect();
        let mail = digest_mail("", &Digest { id: "d", address: "a", notices: &notices });
        assert!(mail.text.contains("10 more are in your inbox."));
        let long = [notice(&"a\r\nBcc: x".repeat(100), None)];
        let subject = digest_mail("", &Digest { id: "d", address: "a", notices: &long }).subject;
        assert!(!subject.contains(['\r', '\n']) && subject.chars().count() <= 201);
    }
}
