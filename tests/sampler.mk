# tests of sampler
