-- What was handed over is removed after a time.
CREATE INDEX "outbox_sent" ON "outbox" ("sent_at") WHERE "state" = 'SENT';
