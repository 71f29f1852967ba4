/** Who connects: from `X-Client-Id`, `X-Client-Name` and the socket behind trusted proxies. */
export interface Client {
  id?: string;
  name?: string;
  userAgent?: string;
  address: string;
  /** In `network.localRanges`. */
  local: boolean;
  /** TLS at the socket or at a trusted proxy. */
  secure: boolean;
  /** A trusted proxy passed it on, and looked at the name that was asked for. */
  proxied: boolean;
}
