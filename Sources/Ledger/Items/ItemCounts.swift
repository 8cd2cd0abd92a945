/// The items of one stream in a run.
package struct ItemCounts: Sendable, Equatable {
    package let items: Int64
    /// The number of items that are done or failed.
    package let done: Int64
}
