package import AppStoreModel

/// One unit of work that is leased to this process: one transaction ID, or one window of the app's notifications.
package struct WorkItem: Hashable, Sendable {
    package let stream: StreamName
    /// A transaction ID, or a text that identifies the window.
    package let key: String
    /// Increases with every lease of the item and is never reset.
    ///
    /// A commit with an older epoch changes nothing.
    package let epoch: Int64
    /// Pages committed for the item over all runs.
    ///
    /// It never decreases.
    package var pageSequence: Int64
    /// The `revision` or `paginationToken` for the next page; `nil` for the first.
    package var cursor: String?
    /// Only for notifications.
    ///
    /// Fixed when the run begins, because every page must be requested with the same body.
    package let window: Range<UnixMilliseconds>?
    /// Set if production does not know the ID and the job allows another environment.
    package var otherEnvironment: AppStoreEnvironment?
    /// Pages committed in this run.
    package var pageCount: Int
    /// How often in this run Apple refused the cursor.
    package var restarts: Int
    /// How often in this run the item was postponed.
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
