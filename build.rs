//! Embeds the bundled D scripts (`d-scripts/*.d`) and their pages (`*.md`): a new script needs no Rust.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let home = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let folder = home.join("d-scripts");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=d-scripts");
    let mut names: Vec<String> = match fs::read_dir(&folder) {
        Ok(entries) => entries
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
            .collect::<Result<_, std::io::Error>>()?,
        Err(_) => Vec::new(),
    };
    names.retain(|name| matches!(Path::new(name).extension().and_then(|it| it.to_str()), Some("d" | "md")));
    names.sort();
    let mut table = String::from("&[\n");
    for name in names {
        println!("cargo::rerun-if-changed=d-scripts/{name}");
        let path = format!("concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/d-scripts/{name}\")");
        table += &format!("    ({name:?}, include_str!({path})),\n");
    }
    table += "]\n";
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("scripts.rs"), table)?;
    #[cfg(feature = "bindgen")]
    bindings(&home)?;
    Ok(())
}

/// libdtrace's types, written anew from our header. A test compares them with the committed ones.
#[cfg(feature = "bindgen")]
fn bindings(home: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let abi = home.join("src/live/abi");
    println!("cargo::rerun-if-changed={}", abi.display());
    println!("cargo::rerun-if-env-changed=SEATRACE_BLESS");
    let bindings = bindgen::Builder::default()
        .header(abi.join("libdtrace.h").display().to_string())
        .allowlist_item("dt_.*")
        .derive_default(true)
        .use_core()
        .sort_semantically(true)
        .disable_header_comment()
        .raw_line("// Written by bindgen from libdtrace.h: `SEATRACE_BLESS=1 cargo build --features bindgen`.")
        .formatter(bindgen::Formatter::Prettyplease)
        .generate()?;
    bindings.write_to_file(PathBuf::from(env::var("OUT_DIR")?).join("bindings.rs"))?;
    if env::var_os("SEATRACE_BLESS").is_some() {
        bindings.write_to_file(abi.join("bindings.rs"))?;
    }
    Ok(())
}
