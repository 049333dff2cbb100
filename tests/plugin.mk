# tests of plugin
