//! Effects of runs in real ipykernels: refused, let through, attributed. `NOTARIUM_TEST_PYTHON` names a Python that has it.
#![cfg(target_os = "linux")]

mod attacks;
mod people;
mod r;
mod refused;
mod scene;
mod shell;
mod surprises;
mod working;
