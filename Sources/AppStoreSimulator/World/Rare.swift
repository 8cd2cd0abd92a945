/// A value that few transactions have, stored outside of the transaction.
///
/// A transaction without it needs 8 bytes for it, so that a world of ten million transactions fits into memory.
@propertyWrapper
struct Rare<Value: Sendable & Equatable>: Sendable, Equatable {
    private var box: Box?

    private final class Box: Sendable {
        let value: Value

        init(_ value: Value) { self.value = value }
    }

    init(wrappedValue: Value? = nil) { box = wrappedValue.map(Box.init) }

    var wrappedValue: Value? {
        get { box?.value }
        set { box = newValue.map(Box.init) }
    }

    static func == (first: Self, second: Self) -> Bool { first.wrappedValue == second.wrappedValue }
}
