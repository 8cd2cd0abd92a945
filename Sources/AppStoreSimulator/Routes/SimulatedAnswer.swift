/// A successful answer before it is JSON: one object with signed records in it, or a status without a body.
///
/// The records are kept apart from the JSON around them, so that every fault about signatures works for every route.
struct SimulatedAnswer: Sendable {
    /// The most records on one page.
    static let pageSize = 20

    /// Writes the members of the answer that ``paging`` does not write.
    ///
    /// `signed` has the JWS of each of ``records``, in their order. It is empty when a fault removed the records.
    typealias Layout = @Sendable (_ signed: [String], inout AnswerWriter) -> Void

    var records: [AnswerRecord]
    /// `nil` for an answer that is not one page of a list.
    ///
    /// With it the JSON begins with the cursor and `hasMore`.
    var paging: Paging?
    /// The HTTP status.
    let status: Int
    /// `nil` for an answer without a body.
    let layout: Layout?

    init(records: [AnswerRecord], paging: Paging? = nil, layout: @escaping Layout) {
        self.records = records
        self.paging = paging
        self.layout = layout
        status = 200
    }

    /// An answer without a body.
    init(status: Int) {
        records = []
        layout = nil
        self.status = status
    }

    /// An answer without records.
    init(_ layout: @escaping @Sendable (inout AnswerWriter) -> Void) {
        self.init(records: []) { _, json in layout(&json) }
    }
}
