//! Finds the controllers in `src/own`: each file there is one, called as the file.

use std::path::Path;
use std::{env, fs};

fn main() {
    let variable = |name| env::var(name).expect("cargo sets it");
    let directory = Path::new(&variable("CARGO_MANIFEST_DIR")).join("src/own");
    println!("cargo::rerun-if-changed={}", directory.display());
    let files = fs::read_dir(&directory).expect("it is part of the crate");
    let paths = files.map(|file| file.expect("it can be read").path());
    let rust = paths.filter(|path| path.extension().is_some_and(|ending| ending == "rs"));
    let stems = rust.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()));
    let mut names: Vec<String> = stems.filter(|name| name != "mod").collect();
    names.sort();
    let mut code = String::new();
    for name in &names {
        let path = directory.join(format!("{name}.rs"));
        code += &format!("#[path = {path:?}]\nmod {name};\n");
    }
    let words: Vec<String> = names.iter().map(|name| name.replace('_', "-")).collect();
    let pairs = names.iter().zip(&words);
    let entries: Vec<String> =
        pairs.map(|(name, word)| format!("({word:?}, {name}::build)")).collect();
    code += &format!("pub(crate) const ALL: &[(&str, Build)] = &[{}];\n", entries.join(", "));
    for (file, text) in [("own.rs", code), ("own_names.rs", format!("&{words:?}"))] {
        let out = Path::new(&variable("OUT_DIR")).join(file);
        fs::write(out, text).expect("the build's directory can be written");
    }
}
