//! Links librondo: from RONDO_LIB_DIR, else from where the linker looks.
fn main() {
    println!("cargo:rerun-if-env-changed=RONDO_LIB_DIR");
    if let Ok(folder) = std::env::var("RONDO_LIB_DIR") {
        println!("cargo:rustc-link-search=native={folder}");
        println!("cargo:rustc-link-arg=-Wl,-rpath,{folder}");
    }
    println!("cargo:rustc-link-lib=dylib=rondo");
}
