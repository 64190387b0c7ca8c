-- A sign-in is looked up by its token's digest, as every other credential is. Who is signed in stays so.
UPDATE "auth_sessions" SET "token" = encode(sha256(convert_to("token", 'UTF8')), 'hex');
ALTER TABLE "auth_sessions" ADD CONSTRAINT "auth_sessions_token" CHECK ("token" ~ '^[0-9a-f]{64}$');
