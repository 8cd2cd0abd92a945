/// The ledger's number of an app in one environment.
///
/// Every primary key begins with it.
package struct AppID: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int32

    package init(rawValue: Int32) {
        self.rawValue = rawValue
    }
}
