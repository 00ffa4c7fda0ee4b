// The relay in a worker that all tabs of a browser share.
import { Relay } from "./relay";

const relay = new Relay();
(self as unknown as { onconnect: (event: MessageEvent) => void }).onconnect = ({ ports: [tab] }) => tab && relay.take(tab);
