//! The provider of OpenID Connect that people may sign in with, as an operator names it.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use clap::Args;
use notarium_server::OidcSettings;

use super::Failure;

/// Holds the client's secret; an argument would be seen by everybody on the machine.
const SECRET_VARIABLE: &str = "NOTARIUM_OIDC_CLIENT_SECRET";

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Signing in with OpenID Connect")]
pub struct OidcArgs {
    /// The provider, as it names itself: https://id.example.org. Register Notarium there with the redirect URI <public URL>/oidc/callback.
    #[arg(long, value_name = "URL", env = "NOTARIUM_OIDC_ISSUER")]
    oidc_issuer: Option<String>,
    /// Which client Notarium is there.
    #[arg(long, value_name = "ID", env = "NOTARIUM_OIDC_CLIENT_ID")]
    oidc_client_id: Option<String>,
    /// A file with the client's secret, which only its owner may read; or set NOTARIUM_OIDC_CLIENT_SECRET to the secret itself. Without
    /// both: a public client.
    #[arg(long, value_name = "FILE", env = "NOTARIUM_OIDC_CLIENT_SECRET_FILE")]
    oidc_client_secret_file: Option<PathBuf>,
    /// What the button on the page calls the provider; else its host.
    #[arg(long, value_name = "NAME", env = "NOTARIUM_OIDC_NAME")]
    oidc_name: Option<String>,
    /// Who gets an account at the first sign-in: a domain of verified addresses (example.org), one such address, or * for all whom the
    /// provider signs in; may be repeated. Else nobody: people link the provider to the account that they have.
    #[arg(long, value_name = "WHO", env = "NOTARIUM_OIDC_ALLOW", value_delimiter = ',')]
    oidc_allow: Vec<String>,
}

impl OidcArgs {
    /// The file with the client's secret, which kernels must not find.
    pub fn secret_file(&self) -> Option<PathBuf> {
        self.oidc_client_secret_file.clone()
    }

    /// `None` where no provider is named.
    pub fn settings(&self) -> Result<Option<OidcSettings>, Failure> {
        let set = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
        let Some(issuer) = set(&self.oidc_issuer) else {
            let is_alone = set(&self.oidc_client_id).is_some() || !self.oidc_allow.is_empty();
            let say = "--oidc-client-id and --oidc-allow need --oidc-issuer: name the provider too";
            return if is_alone { Err(Failure::usage(say)) } else { Ok(None) };
        };
        let client_id = set(&self.oidc_client_id);
        let client_id =
            client_id.ok_or_else(|| Failure::usage("--oidc-issuer needs --oidc-client-id: the provider gives it"))?;
        let secret = match &self.oidc_client_secret_file {
            Some(file) => Some(of_file(file)?),
            None => {
                std::env::var(SECRET_VARIABLE).ok().map(|secret| secret.trim().to_owned()).filter(|it| !it.is_empty())
            }
        };
        let allow = self.oidc_allow.iter().filter(|who| !who.trim().is_empty()).cloned().collect();
        let (name, client_secret) = (set(&self.oidc_name), secret.map(Into::into));
        Ok(Some(OidcSettings { issuer, client_id, client_secret, name, allow }))
    }
}

fn of_file(file: &Path) -> Result<String, Failure> {
    let unreadable = |error| Failure::unreadable(file, &error);
    let mode = std::fs::metadata(file).map_err(unreadable)?.permissions().mode() & 0o777;
    let name = file.display();
    if mode & 0o077 != 0 {
        return Err(Failure::usage(format!("{name} can be read by others (mode {mode:o}): run chmod 600 {name}")));
    }
    let secret = std::fs::read_to_string(file).map_err(unreadable)?.trim().to_owned();
    if secret.is_empty() {
        return Err(Failure::usage(format!("{name} is empty: it must hold the client's secret")));
    }
    Ok(secret)
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    fn args() -> OidcArgs {
        OidcArgs {
            oidc_issuer: Some("https://id.example.org".to_owned()),
            oidc_client_id: Some("notarium".to_owned()),
            oidc_client_secret_file: None,
            oidc_name: None,
            oidc_allow: vec!["example.org".to_owned(), String::new()],
        }
    }

    #[test]
    fn a_provider_needs_its_client_and_the_rest_needs_a_provider() {
        let settings = args().settings().unwrap().unwrap();
        assert_eq!((settings.client_id.as_str(), settings.allow), ("notarium", vec!["example.org".to_owned()]));
        let nothing = OidcArgs { oidc_issuer: None, oidc_client_id: None, oidc_allow: Vec::new(), ..args() };
        assert!(nothing.settings().unwrap().is_none());
        for (wrong, named) in [
            (OidcArgs { oidc_issuer: None, ..args() }, "--oidc-issuer"),
            (OidcArgs { oidc_client_id: Some(" ".to_owned()), ..args() }, "--oidc-client-id"),
        ] {
            let failure = wrong.settings().err().unwrap();
            assert!(failure.message.contains(named), "{}", failure.message);
        }
    }

    #[test]
    fn the_secret_comes_from_a_file_that_is_its_owner_s_alone() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let with = OidcArgs { oidc_client_secret_file: Some(file.path().to_owned()), ..args() };
        let mode = |mode| std::fs::set_permissions(file.path(), PermissionsExt::from_mode(mode)).unwrap();
        mode(0o600);
        assert!(with.settings().err().unwrap().message.contains("empty"));
        std::fs::write(file.path(), "planted\n").unwrap();
        assert_eq!(with.settings().unwrap().unwrap().client_secret.unwrap().expose_secret(), "planted");
        mode(0o640);
        let failure = with.settings().err().unwrap();
        assert!(failure.message.contains("chmod 600") && !failure.message.contains("planted"), "{}", failure.message);
    }
}
