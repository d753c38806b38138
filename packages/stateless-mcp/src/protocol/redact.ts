const PLACE = '[redacted]';

// `Authorization: Bearer abc`, `"api_key": "abc"`, `--token=abc`, `password=abc&…`. Each repetition is bounded, so that the
// time is linear in the length.
const HEADER = /((?:authorization|cookie)["']?[ \t]{0,8}[:=][ \t]{0,8}["']?)([^\r\n"']{1,4096})/gi;
const NAMED =
  /((?:api[-_]?key|access[-_]?key|token|secret|passw(?:or)?d|pwd|passphrase|credential|signature)["']?[ \t]{0,8}[:=][ \t]{0,8}["']?(?:(?:bearer|basic|digest|dpop)[ \t]{1,8})?)((?<=")[^"\r\n]{1,4096}|[^\s"'&,;]{1,4096})/gi;
const SCHEME = /\b((?:bearer|basic|dpop)[ \t]{1,8})([A-Za-z0-9._~+/=-]{8,4096})/gi;
const USER_INFO = /(\b[a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/@:]{0,256}:[^\s/@]{1,256}@/gi;
// Keys that name their issuer, and JSON Web Tokens.
const KEY =
  /\b(?:sk|pk|rk|ghp|gho|ghs|ghu|glpat|xox[abpr])[-_][A-Za-z0-9_-]{12,512}|(?<![\w-])AKIA[A-Z0-9]{16}\b|(?<![\w-])eyJ[A-Za-z0-9_-]{10,2048}\.[A-Za-z0-9_-]{4,4096}\.[A-Za-z0-9_-]{0,2048}/g;

/** A text without these values, whatever they look like. */
export function hideSecrets(text: string, known: Iterable<string>): string {
  let hidden = text;
  for (const secret of known) if (secret.length >= 4) hidden = hidden.replaceAll(secret, PLACE);
  return hidden;
}

/**
 * A text for messages and logs without what looks like a secret.
 *
 * @param known values that must not appear, whatever they look like
 */
export function redactSecrets(text: string, known: Iterable<string> = []): string {
  return hideSecrets(text, known)
    .replace(USER_INFO, `$1${PLACE}@`)
    .replace(HEADER, `$1${PLACE}`)
    .replace(NAMED, `$1${PLACE}`)
    .replace(SCHEME, `$1${PLACE}`)
    .replace(KEY, PLACE);
}
