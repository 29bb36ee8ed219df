/** What went wrong: `code` as docs/batch.md names it, `message`, and where they are known `at` and `hint`. */
export class RondoError extends Error {
  constructor({ code, message, at, hint }) {
    super(message);
    this.name = 'RondoError';
    this.code = code;
    this.at = at;
    this.hint = hint;
  }
}
