# add_proto(NAME FILE [GRPC]): a static library of the code that protoc generates from FILE and, with GRPC, from its services. FILE
# is relative to the current source folder, and so are the includes: "nacos/wire.pb.h". Generated code is compiled without our
# warnings.
function(add_proto name file)
  cmake_parse_arguments(PARSE_ARGV 2 proto "GRPC" "" "")
  string(REGEX REPLACE "\\.proto$" "" stem ${file})
  set(made ${CMAKE_CURRENT_BINARY_DIR}/proto)
  set(sources ${made}/${stem}.pb.cc)
  set(options --cpp_out=${made})
  if(proto_GRPC)
    find_program(GRPC_CPP_PLUGIN grpc_cpp_plugin REQUIRED)
    list(APPEND sources ${made}/${stem}.grpc.pb.cc)
    list(APPEND options --grpc_out=${made} --plugin=protoc-gen-grpc=${GRPC_CPP_PLUGIN})
  endif()
  string(REPLACE ".pb.cc" ".pb.h" headers "${sources}")
  add_custom_command(OUTPUT ${sources} ${headers}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${made}
    COMMAND ${PROTOC} -I${CMAKE_CURRENT_SOURCE_DIR} ${options} ${CMAKE_CURRENT_SOURCE_DIR}/${file}
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${file} VERBATIM)
  add_library(${name} STATIC ${sources} ${headers})
  target_include_directories(${name} SYSTEM PUBLIC ${made})
  target_link_libraries(${name} PUBLIC PkgConfig::grpcpp)
endfunction()
