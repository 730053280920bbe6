"""Results of trees and forests for times to an event."""
