export type GuideFault =
  | 'address_not_allowed'
  | 'unreachable'
  | 'not_xmltv'
  | 'unreadable'
  | 'unknown_encoding'
  | 'too_large'
  | 'empty'
  | 'incomplete'
  | 'no_address';

/** A guide that cannot be taken; the code and the message are shown with its source. */
export class GuideRefused extends Error {
  readonly code: GuideFault;
  constructor(code: GuideFault, message: string) {
    super(message);
    this.code = code;
  }
}
