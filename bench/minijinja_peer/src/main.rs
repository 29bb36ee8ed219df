//! The minijinja worker of jinja_bench.py; the line protocol is described there.
//!
//! The environment is what servers set up for chat templates: Python's string methods, the globals of transformers, and a
//! `tojson` that writes what json.dumps writes.
use std::io::{self, BufRead, Write};

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Kwargs, Serde, Value};
use minijinja::{Environment, Error, ErrorKind};
use serde::Serialize;

/// A batch of renders takes about this long, so that reading the clock costs nothing.
const BATCH_US: f64 = 200.0;

/// Separators as in Python's json.dumps without an indent.
struct PythonFormatter;

impl serde_json::ser::Formatter for PythonFormatter {
    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        writer.write_all(if first { b"" } else { b", " })
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        writer.write_all(if first { b"" } else { b", " })
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}

fn tojson(value: &Value, options: Kwargs) -> Result<Value, Error> {
    let failed = |error| Error::new(ErrorKind::InvalidOperation, "cannot serialize to JSON").with_source(error);
    let indent: Option<usize> = options.get("indent")?;
    let separators: Option<Value> = options.get("separators")?;
    let _: Option<bool> = options.get("ensure_ascii")?;
    options.assert_all_used()?;
    let mut out = Vec::with_capacity(128);
    if let Some(indent) = indent {
        let spaces = " ".repeat(indent);
        let formatter = serde_json::ser::PrettyFormatter::with_indent(spaces.as_bytes());
        value.serialize(&mut serde_json::Serializer::with_formatter(&mut out, formatter)).map_err(failed)?;
    } else if separators.is_some() {
        value.serialize(&mut serde_json::Serializer::new(&mut out)).map_err(failed)?;
    } else {
        value.serialize(&mut serde_json::Serializer::with_formatter(&mut out, PythonFormatter)).map_err(failed)?;
    }
    let text = String::from_utf8(out).map_err(|error| Error::new(ErrorKind::BadSerialization, error.to_string()))?;
    Ok(Value::from_safe_string(text))
}

fn raise_exception(message: String) -> Result<Value, Error> {
    Err(Error::new(ErrorKind::InvalidOperation, message))
}

fn strftime_now(format: &str) -> Result<String, Error> {
    let now = chrono::DateTime::from_timestamp(1_768_473_000, 0).expect("a valid time");
    Ok(now.format(format).to_string())
}

fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build().expect("a valid syntax"));
    environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
    environment.add_filter("tojson", tojson);
    environment.add_function("raise_exception", raise_exception);
    environment.add_function("strftime_now", strftime_now);
    environment
}

fn describe(error: impl std::fmt::Display) -> String {
    error.to_string().replace(['\n', '\t'], " ")
}

struct Loaded {
    environment: Environment<'static>,
    variables: Value,
}

impl Loaded {
    fn render(&self) -> Result<String, Error> {
        self.environment.get_template("chat")?.render(self.variables.clone())
    }
}

/// Compiles, parses, renders once into `output`; returns the compile time in microseconds.
fn load(template: &str, variables: &str, output: &str) -> Result<(Loaded, f64), String> {
    let source = std::fs::read_to_string(template).map_err(describe)?;
    let parsed: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(variables).map_err(describe)?).map_err(describe)?;
    let mut environment = environment();
    let start = cpu_us();
    environment.add_template_owned("chat", source).map_err(describe)?;
    let compile_us = cpu_us() - start;
    let loaded = Loaded { environment, variables: Value::from(Serde(&parsed)) };
    let text = loaded.render().map_err(describe)?;
    std::fs::write(output, text).map_err(describe)?;
    Ok((loaded, compile_us))
}

/// What this thread has spent on a processor, in microseconds.
fn cpu_us() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid and the clock exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 * 1e6 + time.tv_nsec as f64 / 1e3
}

/// The processor time of `count` renders, in microseconds.
fn batch_us(loaded: &Loaded, count: usize) -> Result<f64, String> {
    let start = cpu_us();
    for _ in 0..count {
        loaded.render().map_err(describe)?;
    }
    Ok(cpu_us() - start)
}

/// Renders for about `milliseconds`; the median time of one render and how many there were.
fn run(loaded: &Loaded, milliseconds: f64) -> Result<(f64, usize), String> {
    let batch = ((BATCH_US / batch_us(loaded, 1)?) as usize).max(1);
    let mut times = Vec::new();
    let end = cpu_us() + milliseconds * 1e3;
    while times.len() < 3 || cpu_us() < end {
        times.push(batch_us(loaded, batch)? / batch as f64);
    }
    times.sort_by(f64::total_cmp);
    Ok((times[times.len() / 2], times.len() * batch))
}

fn main() -> io::Result<()> {
    let mut loaded = None;
    for line in io::stdin().lock().lines() {
        let line = line?;
        let fields: Vec<&str> = line.split('\t').collect();
        let answer = match (fields.as_slice(), &loaded) {
            (["load", template, variables, output], _) => load(template, variables, output).map(|(made, compile_us)| {
                loaded = Some(made);
                format!("{compile_us:.3}")
            }),
            (["run", milliseconds], Some(loaded)) => milliseconds
                .parse()
                .map_err(describe)
                .and_then(|milliseconds| run(loaded, milliseconds))
                .map(|(median_us, count)| format!("{median_us:.3}\t{count}")),
            _ => Err("unknown command".to_string()),
        };
        match answer {
            Ok(text) => println!("ok\t{text}"),
            Err(text) => println!("error\t{text}"),
        }
    }
    Ok(())
}
