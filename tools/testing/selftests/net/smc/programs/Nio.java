// SPDX-License-Identifier: GPL-2.0
// Java: channels with a selector, sendfile, asynchronous channels and plain
// sockets. usage: Nio server|client ADDRESS PORT FILE
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.FileChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.zip.CRC32;

public class Nio {
	static InetSocketAddress addr;
	static Path file;

	static final class Conn {
		final ByteBuffer buf = ByteBuffer.allocateDirect(32768);
		boolean eof;
	}

	// an echo server with one selector
	static void server() throws Exception {
		Selector sel = Selector.open();
		ServerSocketChannel srv = ServerSocketChannel.open();
		srv.setOption(StandardSocketOptions.SO_REUSEADDR, true);
		srv.bind(addr);
		srv.configureBlocking(false);
		srv.register(sel, SelectionKey.OP_ACCEPT);
		while (true) {
			sel.select();
			Iterator<SelectionKey> it = sel.selectedKeys().iterator();
			while (it.hasNext()) {
				SelectionKey key = it.next();
				it.remove();
				if (key.isAcceptable()) {
					SocketChannel ch = srv.accept();
					if (ch == null)
						continue;
					ch.configureBlocking(false);
					ch.setOption(StandardSocketOptions.TCP_NODELAY, true);
					ch.register(sel, SelectionKey.OP_READ, new Conn());
				} else {
					try {
						echo(key);
					} catch (java.io.IOException e) {
						key.channel().close();
					}
				}
			}
		}
	}

	static void echo(SelectionKey key) throws java.io.IOException {
		SocketChannel ch = (SocketChannel) key.channel();
		Conn c = (Conn) key.attachment();

		if (key.isReadable() && !c.eof)
			c.eof = ch.read(c.buf) < 0;
		c.buf.flip();
		ch.write(c.buf);
		c.buf.compact();
		if (c.eof && c.buf.position() == 0) {
			ch.shutdownOutput();
			ch.close();
			return;
		}
		key.interestOps((c.eof || !c.buf.hasRemaining() ? 0 : SelectionKey.OP_READ) |
				(c.buf.position() > 0 ? SelectionKey.OP_WRITE : 0));
	}

	static byte[] pattern(int n) {
		byte[] b = new byte[n];
		for (int i = 0; i < n; i++)
			b[i] = (byte) (i * 31 + (i >> 8));
		return b;
	}

	static String crc(byte[] b, int n) {
		CRC32 c = new CRC32();
		c.update(b, 0, n);
		return n + " " + Long.toHexString(c.getValue());
	}

	// many connections on one selector, connected without blocking
	static void selector(int conns, int bytes) throws Exception {
		Selector sel = Selector.open();
		byte[] data = pattern(bytes);
		int open = conns, good = 0;

		for (int i = 0; i < conns; i++) {
			SocketChannel ch = SocketChannel.open();
			ch.configureBlocking(false);
			ch.connect(addr);
			ch.register(sel, SelectionKey.OP_CONNECT, new ByteBuffer[] {
				ByteBuffer.wrap(data), ByteBuffer.allocate(bytes + 1) });
		}
		while (open > 0) {
			sel.select();
			for (SelectionKey key : sel.selectedKeys()) {
				SocketChannel ch = (SocketChannel) key.channel();
				ByteBuffer[] b = (ByteBuffer[]) key.attachment();
				if (key.isConnectable()) {
					ch.finishConnect();
					key.interestOps(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
					continue;
				}
				if (key.isWritable()) {
					ch.write(b[0]);
					if (!b[0].hasRemaining()) {
						ch.shutdownOutput();
						key.interestOps(SelectionKey.OP_READ);
					}
				}
				if (key.isReadable() && ch.read(b[1]) < 0) {
					if (b[1].position() == bytes &&
					    java.util.Arrays.equals(data, 0, bytes, b[1].array(), 0, bytes))
						good++;
					ch.close();
					open--;
				}
			}
			sel.selectedKeys().clear();
		}
		System.out.println("selector " + good + " of " + conns);
	}

	// FileChannel.transferTo() is sendfile()
	static void transfer() throws Exception {
		try (SocketChannel ch = SocketChannel.open(addr);
		     FileChannel f = FileChannel.open(file)) {
			CRC32 c = new CRC32();
			long[] got = new long[1];
			Thread t = new Thread(() -> {
				try {
					ByteBuffer b = ByteBuffer.allocate(50000);
					while (ch.read(b) >= 0) {
						b.flip();
						got[0] += b.remaining();
						c.update(b);
						b.clear();
					}
				} catch (Exception e) {
					System.out.println("transfer: " + e);
				}
			});
			t.start();
			for (long pos = 0; pos < f.size(); )
				pos += f.transferTo(pos, f.size() - pos, ch);
			ch.shutdownOutput();
			t.join();
			System.out.println("transfer " + got[0] + " " + Long.toHexString(c.getValue()));
		}
	}

	static void asynchronous() throws Exception {
		try (AsynchronousSocketChannel ch = AsynchronousSocketChannel.open()) {
			ByteBuffer out = ByteBuffer.wrap(pattern(20000)), in = ByteBuffer.allocate(20001);
			ch.connect(addr).get();
			while (out.hasRemaining())
				ch.write(out).get();
			ch.shutdownOutput();
			while (ch.read(in).get() >= 0)
				;
			System.out.println("asynchronous " + crc(in.array(), in.position()));
		}
	}

	static void plain() throws Exception {
		try (Socket s = new Socket()) {
			s.setReceiveBufferSize(100000);
			s.setKeepAlive(true);
			s.connect(addr, 60000);
			OutputStream out = s.getOutputStream();
			InputStream in = s.getInputStream();
			for (int i = 0; i < 200; i++) {
				out.write(pattern(100 + i));
				if (in.readNBytes(100 + i).length != 100 + i)
					System.out.println("short");
			}
			s.setSoTimeout(200);
			try {
				in.read();
				System.out.println("no timeout");
			} catch (SocketTimeoutException e) {
				System.out.println("plain: timeout");
			}
			s.setSoTimeout(0);
			s.shutdownOutput();
			System.out.println("plain: end " + in.read());
		}
		try (Socket s = new Socket()) {
			s.connect(new InetSocketAddress(addr.getAddress(), addr.getPort() + 9), 60000);
			System.out.println("connected to nobody");
		} catch (java.net.ConnectException e) {
			System.out.println("refused");
		}
	}

	// a thread that waits in read() while another closes the socket
	static void closed() throws Exception {
		Socket s = new Socket(addr.getAddress(), addr.getPort());
		String[] how = { "nothing" };
		Thread t = new Thread(() -> {
			try {
				how[0] = "read " + s.getInputStream().read();
			} catch (Exception e) {
				how[0] = e.getClass().getName();
			}
		});
		t.start();
		Thread.sleep(300);
		s.close();
		t.join(20000);
		System.out.println("closed while reading: " + how[0]);
	}

	public static void main(String[] args) throws Exception {
		addr = new InetSocketAddress(args[1], Integer.parseInt(args[2]));
		file = Path.of(args[3]);
		if (args[0].equals("server"))
			server();
		selector(20, 30000);
		transfer();
		asynchronous();
		plain();
		closed();
	}
}
