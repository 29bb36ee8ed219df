// A rollout of two turns, with made-up sampling:  rollout MODEL 'what the model writes, stop token included'
package main

import (
	"errors"
	"fmt"
	"os"
	"reflect"

	"rondo.example/rollout/rondo"
)

func turns(model *rondo.Model, completion string) error {
	rollout, err := model.Rollout(`[{"role": "user", "content": "2 + 2?"}]`)
	if err != nil {
		return err
	}
	defer rollout.Close()
	if err := show(model, rollout); err != nil {
		return err
	}
	sampled, err := model.Tokenize(completion)
	if err != nil {
		return err
	}
	said, err := rollout.Complete(sampled)
	if err != nil {
		return err
	}
	fmt.Println("said:", said)
	before, err := rollout.State()
	if err != nil {
		return err
	}
	added, err := rollout.Extend(`[{"role": "tool", "name": "add", "content": "4"}]`)
	if err != nil {
		return err
	}
	after, err := rollout.State()
	if err != nil {
		return err
	}
	if !reflect.DeepEqual(after.IDs, append(before.IDs, added...)) {
		return errors.New("the old ids have changed")
	}
	return show(model, rollout)
}

func show(model *rondo.Model, rollout *rondo.Rollout) error {
	state, err := rollout.State()
	if err != nil {
		return err
	}
	text, err := model.Detokenize(state.IDs)
	fmt.Println("prompt:", text)
	return err
}

func run(path, completion string) error {
	model, err := rondo.Open(path)
	if err != nil {
		return err
	}
	defer model.Close()
	if err := turns(model, completion); err != nil {
		return err
	}
	if open := model.OpenHandles(); open != 0 {
		return fmt.Errorf("%d handles were left open", open)
	}
	var told *rondo.Error
	if _, err := model.Encode(`[{"role": `); !errors.As(err, &told) || told.Line != 1 {
		return fmt.Errorf("broken JSON gave %v", err)
	}
	return nil
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: rollout MODEL COMPLETION")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
