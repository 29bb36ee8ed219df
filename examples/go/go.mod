module rondo.example/rollout

go 1.17
