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
    Ok(())
}
