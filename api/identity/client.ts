/** The client: from `X-Client-Id`, `X-Client-Name` and the socket behind trusted proxies. */
export interface Client {
  id?: string;
  name?: string;
  userAgent?: string;
  address: string;
  /** The address is in `network.localRanges`. */
  local: boolean;
  /** The request used TLS at the socket or at a trusted proxy. */
  secure: boolean;
  /** A trusted proxy forwarded the request and checked its host name. */
  proxied: boolean;
}
