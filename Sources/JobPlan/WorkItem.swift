package import AppStoreModel

/// One piece of work, leased to this process: the history of one transaction ID, or one window of the app's notifications.
package struct WorkItem: Hashable, Sendable {
    package let stream: StreamName
    /// A transaction ID, or the window's two moments with `..` between.
    package let key: String
    /// Grows with every lease of the item and is never reset; a commit that carries an older one changes nothing.
    package let epoch: Int64
    /// Pages ever committed for the item; only grows.
    package var pageSequence: Int64
    /// `revision` or `paginationToken` the next page is asked with; `nil` for the first.
    package var cursor: String?
    /// Notifications only: frozen when the run began, because every page must be asked with the same body.
    package let window: Range<UnixMilliseconds>?
    /// Set when production did not know the ID and the job allows another environment.
    package var otherEnvironment: AppStoreEnvironment?
    /// Pages committed in this run.
    package var pageCount: Int
    /// How often in this run Apple refused the cursor.
    package var restarts: Int
    /// How often in this run the item was put off.
    package var deferrals: Int

    package init(
        stream: StreamName,
        key: String,
        epoch: Int64,
        pageSequence: Int64,
        cursor: String?,
        window: Range<UnixMilliseconds>?,
        otherEnvironment: AppStoreEnvironment? = nil,
        pageCount: Int = 0,
        restarts: Int = 0,
        deferrals: Int = 0
    ) {
        self.stream = stream
        self.key = key
        self.epoch = epoch
        self.pageSequence = pageSequence
        self.cursor = cursor
        self.window = window
        self.otherEnvironment = otherEnvironment
        self.pageCount = pageCount
        self.restarts = restarts
        self.deferrals = deferrals
    }
}
