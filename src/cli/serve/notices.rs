//! Options of `serve` about notices: the mail server, and webhooks to private networks.

use std::path::PathBuf;

use clap::Args;
use notarium_server::{MailServer, NoticeOptions};

use super::secret_of;
use crate::cli::Failure;

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Notices by mail and webhook")]
pub struct NoticeArgs {
    /// The mail server: smtps://USER@HOST, or smtp://USER@HOST:587?tls=required. Without it people get no mail.
    #[arg(long, value_name = "URL", env = "NOTARIUM_MAIL_SERVER", requires = "mail_from")]
    mail_server: Option<String>,
    /// A file with the password for the mail server, which only its owner may read.
    #[arg(long, value_name = "FILE", env = "NOTARIUM_MAIL_PASSWORD_FILE", requires = "mail_server")]
    mail_password_file: Option<PathBuf>,
    /// The sender of mails, as in "Notarium <notes@example.org>".
    #[arg(long, value_name = "ADDRESS", env = "NOTARIUM_MAIL_FROM", requires = "mail_server")]
    mail_from: Option<String>,
    /// Lets webhooks reach private networks and this machine, also without TLS. People could then ask inner services, if without their
    /// answers.
    #[arg(long, env = "NOTARIUM_ALLOW_PRIVATE_WEBHOOKS")]
    allow_private_webhooks: bool,
}

impl NoticeArgs {
    /// The file with the mail server's password, which kernels must not read.
    pub fn secret_file(&self) -> Option<PathBuf> {
        self.mail_password_file.clone()
    }

    pub fn options(&self) -> Result<NoticeOptions, Failure> {
        let mail = match (&self.mail_server, &self.mail_from) {
            (Some(url), Some(from)) => {
                let password = self.mail_password_file.as_deref().map(secret_of).transpose()?.map(Into::into);
                Some(MailServer { url: url.clone(), password, from: from.clone() })
            }
            _ => None,
        };
        Ok(NoticeOptions { allow_private_webhooks: self.allow_private_webhooks, mail, ..NoticeOptions::default() })
    }
}
