//! Independent OpenID Connect provider (`oidc-provider-mock` from PyPI), and a browser that signs in with it.

use std::path::PathBuf;
use std::process::Stdio;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use reqwest::Url;
use reqwest::redirect::Policy;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::support::{Answer, Http};

/// Provider process on a free port; it ends when this is dropped.
pub struct Provider {
    process: Child,
    pub issuer: String,
}

impl Provider {
    pub async fn start() -> Self {
        let default = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target/test-venv/bin/python");
        let python = std::env::var_os("NOTARIUM_TEST_PYTHON").map_or(default, PathBuf::from);
        let mut command = Command::new(&python);
        command.args(["-u", "-m", "oidc_provider_mock", "--port", "0"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut process = command.spawn().unwrap_or_else(|error| panic!("{}: {error}", python.display()));
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let mut said = String::new();
        while let Some(line) = lines.next_line().await.unwrap() {
            if let Some((_, rest)) = line.split_once("running on ") {
                let issuer = rest.split_whitespace().next().unwrap().to_owned();
                // Drains its further output, so that it never blocks.
                tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
                return Self { process, issuer };
            }
            said += &format!("{line}\n");
        }
        panic!("no provider (`make deps` installs oidc-provider-mock, or set NOTARIUM_TEST_PYTHON): {said}");
    }

    /// Sets the claims of a person.
    pub async fn knows(&self, subject: &str, claims: Value) {
        let url = format!("{}/users/{subject}", self.issuer);
        let answer = crate::support::client().put(url).json(&claims).send().await.unwrap();
        assert!(answer.status().is_success(), "{}", answer.text().await.unwrap());
    }

    pub async fn stop(&mut self) {
        self.process.kill().await.unwrap();
    }
}

/// A browser with a key.
pub struct Browser {
    pair: EcdsaKeyPair,
    http: Http,
}

/// Query with which the provider redirects the browser back.
#[derive(Debug, Clone)]
pub struct Back {
    pub code: Option<String>,
    pub state: String,
    pub error: Option<String>,
}

impl Browser {
    /// Creates a browser that reaches the server with this client.
    pub fn at(http: &Http) -> Self {
        let (random, kind) = (SystemRandom::new(), &ECDSA_P256_SHA256_FIXED_SIGNING);
        let pkcs8 = EcdsaKeyPair::generate_pkcs8(kind, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(kind, pkcs8.as_ref(), &random).unwrap();
        Self { pair, http: http.clone() }
    }

    pub fn key(&self) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(self.pair.public_key())
    }

    fn sign(&self, text: &str) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(self.pair.sign(&SystemRandom::new(), text.as_bytes()).unwrap())
    }

    pub async fn begin(&self) -> Answer {
        self.http.post("/api/session/oidc/begin", json!({"key": self.key()})).await
    }

    /// Begins a fresh sign-in, as before a decision.
    pub async fn begin_afresh(&self) -> Answer {
        self.http.post("/api/session/oidc/begin", json!({"key": self.key(), "fresh": true})).await
    }

    pub async fn finish_afresh(&self, back: &Back) -> Answer {
        let mut proof = self.proof(&back.state, back.code.as_deref().unwrap_or_default());
        proof["fresh"] = true.into();
        self.http.post("/api/session/oidc", proof).await
    }

    /// Signs in at the provider as this person.
    pub async fn allow(&self, url: &str, subject: &str) -> Back {
        answered(url, &format!("sub={subject}")).await
    }

    pub async fn deny(&self, url: &str) -> Back {
        answered(url, "action=deny").await
    }

    /// Returns the request body for a code and a state, with the signature.
    pub fn proof(&self, state: &str, code: &str) -> Value {
        let signature = self.sign(&format!("notarium-oidc\n{state}\n{code}"));
        json!({"state": state, "code": code, "key": self.key(), "signature": signature, "label": "browser"})
    }

    pub async fn finish(&self, back: &Back) -> Answer {
        let code = back.code.clone().unwrap_or_default();
        self.http.post("/api/session/oidc", self.proof(&back.state, &code)).await
    }

    /// Runs a whole sign-in.
    pub async fn sign_in(&self, subject: &str) -> Answer {
        let begun = self.begin().await.ok();
        let back = self.allow(begun["url"].as_str().unwrap(), subject).await;
        assert_eq!(begun["state"], back.state);
        self.finish(&back).await
    }

    /// Resumes the session, as a page that opens later does.
    pub async fn resume(&self, session: &str) -> Answer {
        let challenge = self.http.post("/api/session/challenge", json!({"session": session})).await.ok();
        let challenge = challenge["challenge"].as_str().unwrap().to_owned();
        let signature = self.sign(&format!("notarium-session\n{session}\n{challenge}"));
        let proof = json!({"session": session, "key": self.key(), "challenge": challenge, "signature": signature});
        self.http.post("/api/session/resume", proof).await
    }
}

async fn answered(url: &str, form: &str) -> Back {
    let client = crate::support::client_builder().redirect(Policy::none()).build().unwrap();
    let request = client.post(url).header("content-type", "application/x-www-form-urlencoded").body(form.to_owned());
    let answer = request.send().await.unwrap();
    let status = answer.status();
    let back = answer.headers().get("location").map(|place| place.to_str().unwrap().to_owned());
    let back = back.unwrap_or_else(|| panic!("{status}: the provider sends nobody back"));
    let url: Url = back.parse().unwrap();
    assert_eq!(url.path(), "/oidc/callback");
    let find = |wanted: &str| url.query_pairs().find(|(name, _)| name == wanted).map(|(_, value)| value.into_owned());
    Back { code: find("code"), state: find("state").unwrap_or_default(), error: find("error") }
}
