/* SPDX-License-Identifier: MIT */
// A build script: cargo compiles it, then runs it.
use std::{env, fs, path::Path};

fn main() {
    let words = ["a", "and", "of", "the", "to"];
    let out = Path::new(&env::var("OUT_DIR").unwrap()).join("stopwords.rs");
    fs::write(out, format!("pub const STOPWORDS: &[&str] = &{:?};\n", words)).unwrap();
    println!("cargo:rerun-if-changed=build.rs");
}
