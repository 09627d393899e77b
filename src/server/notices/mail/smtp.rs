//! Mail by SMTP.

use std::time::Duration;

use lettre::message::Mailbox;
use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::transport::smtp::authentication::Credentials;
use lettre::{Address, AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};
use reqwest::Url;
use secrecy::ExposeSecret;

use super::{InvalidMail, MailServer, PlainMail};

#[derive(Clone)]
pub(super) struct SmtpSender {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
    /// Right part of each `Message-ID`.
    host: String,
    timeout: Duration,
}

impl SmtpSender {
    pub(super) fn new(server: &MailServer, public_url: &str, timeout: Duration) -> Result<Self, InvalidMail> {
        let from: Mailbox = server.from.parse().map_err(|_| {
            let from = &server.from;
            InvalidMail(format!("--mail-from is no sender: write Notarium <notes@example.org>, not {from}"))
        })?;
        let url = Url::parse(&server.url).ok().filter(|url| matches!(url.scheme(), "smtp" | "smtps"));
        let url = url.ok_or_else(|| {
            let say = "--mail-server is no address of a mail server: write smtps://USER@HOST, or smtp://USER@HOST:587?tls=required";
            InvalidMail(say.to_owned())
        })?;
        if url.password().is_some() {
            let say =
                "--mail-server has a password, which others could read: put it into a file (--mail-password-file)";
            return Err(InvalidMail(say.to_owned()));
        }
        let is_secret = url.scheme() == "smtps" || url.query() == Some("tls=required");
        if server.password.is_some() && !is_secret {
            let say = "the mail server's password would be sent without TLS: write smtps://…, or add ?tls=required";
            return Err(InvalidMail(say.to_owned()));
        }
        let mut transport = AsyncSmtpTransport::<Tokio1Executor>::from_url(url.as_str())
            .map_err(|error| InvalidMail(format!("--mail-server cannot be used: {error}")))?
            .timeout(Some(timeout));
        if let Some(password) = &server.password {
            let user = decoded(url.username());
            transport = transport.credentials(Credentials::new(user, password.expose_secret().to_owned()));
        }
        let host = Url::parse(public_url).ok().and_then(|url| url.host_str().map(str::to_owned));
        let host = host.unwrap_or_else(|| "notarium".to_owned());
        Ok(Self { transport: transport.build(), from, host, timeout })
    }

    pub(super) async fn send(&self, mail: PlainMail) -> Result<(), String> {
        let to: Address = mail.to.parse().map_err(|_| "the address is no mail address".to_owned())?;
        let automatic = HeaderValue::new(HeaderName::new_from_ascii_str("Auto-Submitted"), "auto-generated".to_owned());
        let message = Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, to))
            .subject(mail.subject)
            .message_id(Some(format!("<{}@{}>", mail.id, self.host)))
            .raw_header(automatic)
            .header(ContentType::TEXT_PLAIN)
            .body(mail.text)
            .map_err(|error| format!("the mail cannot be written: {error}"))?;
        match tokio::time::timeout(self.timeout, self.transport.send(message)).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => {
                tracing::warn!(%error, "a mail was not sent");
                Err("the mail server did not take it".to_owned())
            }
            Err(_) => Err("the mail server did not answer in time".to_owned()),
        }
    }
}

/// User name of an address, in which an `@` is written as `%40`.
fn decoded(text: &str) -> String {
    let pairs = format!("user={}", text.replace('+', "%2B"));
    form_urlencoded::parse(pairs.as_bytes()).next().map(|(_, value)| value.into_owned()).unwrap_or_default()
}

pub(super) fn check(address: &str) -> Result<(), InvalidMail> {
    let is_address = address.len() <= 254 && address.parse::<Address>().is_ok();
    if is_address {
        Ok(())
    } else {
        Err(InvalidMail("that is no mail address: write it as in ann@example.org".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(url: &str, password: Option<&str>) -> String {
        let server = MailServer {
            url: url.to_owned(),
            password: password.map(Into::into),
            from: "Notarium <notes@example.org>".to_owned(),
        };
        SmtpSender::new(&server, "https://notes.example.org", Duration::from_secs(5))
            .err()
            .map_or_else(String::new, |it| it.0)
    }

    #[tokio::test]
    async fn a_password_is_sent_with_tls_alone() {
        assert!(refused("smtp://ann@mail.example.org", Some("secret")).contains("without TLS"));
        assert!(refused("smtps://ann:secret@mail.example.org", None).contains("--mail-password-file"));
        assert!(refused("http://mail.example.org", None).contains("smtps://"));
        assert_eq!(refused("smtps://ann%40example.org@mail.example.org", Some("secret")), "");
        assert_eq!(refused("smtp://mail.example.org:587?tls=required", Some("secret")), "");
        assert_eq!(refused("smtp://127.0.0.1:25", None), "");
    }

    #[test]
    fn addresses_have_one_name_and_no_line_breaks() {
        assert!(check("ann@example.org").is_ok());
        for wrong in ["ann", "ann@", "a@b.c, d@e.f", "a@b.c\r\nBcc: d@e.f", ""] {
            assert!(check(wrong).is_err(), "{wrong}");
        }
    }
}
