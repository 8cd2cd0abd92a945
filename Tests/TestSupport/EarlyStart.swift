package import Testing

/// A test that takes more than half a minute while the others run, often because it waits.
///
/// ``TemporaryDatabase`` gives it a turn before tests that have waited longer. If it began as one of the last, the run would take
/// longer by the time that it runs alone.
package struct EarlyStart: TestTrait, SuiteTrait {
    package let isRecursive = true
}

extension Trait where Self == EarlyStart {
    package static var startsEarly: Self { EarlyStart() }
}
