//! A rollout of two turns, with made-up sampling:  rollout MODEL 'what the model writes, stop token included'
use rondo::{Model, Result, Rollout};

fn run(path: &str, completion: &str) -> Result<()> {
    let model = Model::open(path)?;
    {
        let rollout = Rollout::open(&model, r#"[{"role": "user", "content": "2 + 2?"}]"#)?;
        println!("prompt: {}", model.detokenize(&rollout.state()?.ids)?);
        let sampled = model.tokenize(completion)?;
        println!("said: {}", rollout.complete(&sampled)?);
        let before = rollout.state()?.ids;
        let added = rollout.extend(r#"[{"role": "tool", "name": "add", "content": "4"}]"#)?;
        let after = rollout.state()?;
        assert_eq!(after.ids, [before, added].concat());
        assert_eq!(
            after.sampled_mask.iter().filter(|bit| **bit == 1).count(),
            sampled.len()
        );
        println!("prompt: {}", model.detokenize(&after.ids)?);
    }
    assert_eq!(model.open_handles(), 0);
    let refused = model.encode(r#"[{"role": "#).err();
    assert_eq!(refused.map(|error| error.line), Some(1));
    Ok(())
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.len() != 3 {
        eprintln!("usage: rollout MODEL COMPLETION");
        std::process::exit(2);
    }
    if let Err(error) = run(&arguments[1], &arguments[2]) {
        eprintln!("{error}");
        std::process::exit(1);
    }
}
