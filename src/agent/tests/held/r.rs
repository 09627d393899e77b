//! R's kernel, `r-cran-irkernel` of Debian.

use notarium_core::{Effect, Effects};
use serde_json::json;

use crate::scene::{Held, kernelspec};

/// Code that runs held as it runs for a person.
const HARMLESS: &[(&str, &str)] = &[
    ("print(x)", "[1] 7\n"),
    ("system('ls -d /', intern=TRUE)", "[1] \"/\""),
    ("t <- tempfile(); writeLines('a', t); print(readLines(t)); unlink(t)", "[1] \"a\"\n"),
    ("unlist(parallel::mclapply(1:2, function(i) i * 2))", "[1] 2 4"),
    ("summary(lm(dist ~ speed, cars))$r.squared", "[1] 0.6510794"),
    ("plot(1:3)", "plot without title"),
];

const REFUSED: &[(&str, &[Effect])] = &[
    ("try(writeLines('y', 'OUT/b'), silent=TRUE)", &[Effect::Write]),
    ("suppressWarnings(file.remove('OUT/kept.txt'))", &[Effect::Remove]),
    ("unlink('OUT/kept.txt')", &[Effect::Remove]),
    ("system('rm -f OUT/kept.txt; echo z > OUT/c', ignore.stderr=TRUE)", &[Effect::Write, Effect::Remove]),
    ("parallel::mclapply(1:2, function(i) unlink('OUT/kept.txt'))", &[Effect::Remove]),
    ("try(readLines(url('http://127.0.0.1:9/x')), silent=TRUE)", &[Effect::Network]),
];

#[tokio::test]
#[ignore = "needs R with IRkernel: `make soak`"]
async fn code_in_r_is_held() {
    let folder = tempfile::tempdir().unwrap();
    let argv = ["R", "--slave", "-e", "IRkernel::main()", "--args", "{connection_file}"];
    let spec = kernelspec(folder.path(), &json!({"argv": argv, "display_name": "R", "language": "R"}));
    let mut held = Held::launch(folder, spec, |_| {}).await;
    held.free("x <- 7; writeLines('y', 'OUT/a'); stopifnot(file.remove('OUT/a'))").await.is_ok();
    for (code, expected) in HARMLESS {
        let ran = held.held(code).await;
        assert!(ran.refused().is_empty(), "{code}: {:?}", ran.refusals());
        assert_eq!(ran.is_ok(), *expected, "{code}");
    }
    for (code, kinds) in REFUSED {
        let ran = held.held(code).await;
        assert_eq!(ran.kinds(), *kinds, "{code}: {} {:?}", ran.text(), ran.refusals());
    }
    held.nothing_outside_changed();
    held.run("writeLines('y', 'OUT/b')", Effects::held([Effect::Write])).await.is_ok();
    held.free("stopifnot(file.remove('OUT/b'))").await.is_ok();
    held.nothing_outside_changed();
}
