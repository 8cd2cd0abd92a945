-- How often was each offer redeemed?
--
-- Every redemption counts in the month in which it began, even if the same subscription redeems again.
-- offer_conversion_by_month counts each subscription once. Consecutive periods with the same offer are one redemption,
-- because Apple's data do not distinguish an offer of three periods from three redemptions in a row. They are consecutive if the
-- second begins when the first ends, or if Apple renewed it (RENEWAL) after a failed payment. After a lapse a purchase with the same
-- offer is another redemption.
--
-- One row for each app_id, month, product_id, storefront, offer, offer_type, offer_discount_type, offer_identifier.
-- Readers: loader, exporter, actor, analyst.

-- One row for each app_id, month, product_id, storefront, is_trial, offer_type, offer_discount_type, offer_identifier.
CREATE OR REPLACE VIEW refresh_offer_redemption_changes AS
SELECT
    app_id, date_trunc('month', starts_at AT TIME ZONE 'UTC')::date AS month, product_id, storefront, is_trial, offer_type, offer_discount_type, offer_identifier,
    sum(sign) AS redemptions
FROM refresh_changed_periods
WHERE NOT is_family_shared AND (is_trial OR offer_type IS NOT NULL) AND NOT is_same_offer
GROUP BY app_id, date_trunc('month', starts_at AT TIME ZONE 'UTC')::date, product_id, storefront, is_trial, offer_type, offer_discount_type, offer_identifier;

CREATE OR REPLACE VIEW offer_redemptions_by_month AS
SELECT
    app_id, month, product_id, storefront,
    CASE WHEN is_trial THEN 'free trial' ELSE coalesce(
        CASE offer_type WHEN 1 THEN 'introductory' WHEN 2 THEN 'promotional' WHEN 3 THEN 'offer code' WHEN 4 THEN 'win-back' END,
        'type ' || offer_type) END AS offer,
    offer_type, offer_discount_type, offer_identifier, redemptions
FROM refresh_offer_redemption_totals;
COMMENT ON VIEW offer_redemptions_by_month IS
    'Redemptions of free trials and other offers by the month in which they began. A subscription can have several. As of the last refresh.';
COMMENT ON COLUMN offer_redemptions_by_month.month IS 'The month in which the redemption''s first period began; its first day, in UTC.';
COMMENT ON COLUMN offer_redemptions_by_month.offer IS 'The kind of offer: free trial (of any offer type), introductory, promotional, offer code, win-back.';
COMMENT ON COLUMN offer_redemptions_by_month.redemptions IS 'Redemptions of the offer. Consecutive periods with the same offer are one redemption; a purchase after a lapse is another.';
