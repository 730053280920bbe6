"""Results of trees and forests for survival times."""
