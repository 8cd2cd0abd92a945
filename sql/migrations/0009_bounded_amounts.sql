-- Which amounts of earlier versions are so large that the totals overflow?
--
-- An amount, count or percentage beyond these limits is a field issue now, and its column stays NULL. The rows of earlier versions
-- get what a row gets today: one of them would keep every view from being refreshed.
UPDATE transactions SET price_milliunits = NULL WHERE price_milliunits NOT BETWEEN -1000000000000 AND 1000000000000;
UPDATE transactions SET quantity = NULL WHERE quantity NOT BETWEEN -1000000 AND 1000000;
UPDATE transactions SET revocation_percentage_milliunits = NULL WHERE revocation_percentage_milliunits NOT BETWEEN -100000 AND 100000;
UPDATE refunds SET price_milliunits = NULL WHERE price_milliunits NOT BETWEEN -1000000000000 AND 1000000000000;
UPDATE refunds SET quantity = NULL WHERE quantity NOT BETWEEN -1000000 AND 1000000;
UPDATE refunds SET revocation_percentage_milliunits = NULL WHERE revocation_percentage_milliunits NOT BETWEEN -100000 AND 100000;
UPDATE renewals SET renewal_price_milliunits = NULL WHERE renewal_price_milliunits NOT BETWEEN -1000000000000 AND 1000000000000;
UPDATE renewals SET renewal_quantity = NULL WHERE renewal_quantity NOT BETWEEN -1000000 AND 1000000;
UPDATE advanced_commerce_items SET price_milliunits = NULL WHERE price_milliunits NOT BETWEEN -1000000000000 AND 1000000000000;
UPDATE advanced_commerce_items SET offer_price_milliunits = NULL WHERE offer_price_milliunits NOT BETWEEN -1000000000000 AND 1000000000000;
UPDATE advanced_commerce_refunds SET refund_amount_milliunits = NULL WHERE refund_amount_milliunits NOT BETWEEN -1000000000000 AND 1000000000000;
