"""Conditions of theorems, inference, importance: computed from arrays of trees and rows."""
