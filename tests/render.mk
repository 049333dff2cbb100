# tests of render
