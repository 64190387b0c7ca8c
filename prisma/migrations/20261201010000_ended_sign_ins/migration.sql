-- Who signs out, or is signed out, loses what was opened with that sign-in: every server looks again at its open
-- watches. In the transaction that ends the sign-in, whoever ends it.
CREATE FUNCTION "sign_in_ended"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM gone) THEN
    UPDATE "installation" SET "access_epoch" = "access_epoch" + 1;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER "sign_in_ended" AFTER DELETE ON "auth_sessions" REFERENCING OLD TABLE AS gone
  FOR EACH STATEMENT EXECUTE FUNCTION "sign_in_ended"();
